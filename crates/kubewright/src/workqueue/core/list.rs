//! Lines of entries, linked through the entries themselves: joining, leaving and stepping out of the middle cost the same.

use super::entry::{Entries, Entry};
use super::slab::NOWHERE;

/// An entry's neighbours in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Links {
    previous: u32,
    next: u32,
}

impl Links {
    pub(super) const UNLINKED: Self = Self { previous: NOWHERE, next: NOWHERE };
}

/// Which of an entry's two sets of neighbours a line goes through.
///
/// A type and not a value, so that each line compiles to code without a branch.
pub(super) trait Line {
    fn links<K>(entry: &Entry<K>) -> Links;
    fn links_mut<K>(entry: &mut Entry<K>) -> &mut Links;
}

/// The line of one priority.
#[derive(Debug)]
pub(super) struct ByLevel;

/// The line of all ready entries.
#[derive(Debug)]
pub(super) struct ByAge;

impl Line for ByLevel {
    fn links<K>(entry: &Entry<K>) -> Links {
        entry.level
    }
    fn links_mut<K>(entry: &mut Entry<K>) -> &mut Links {
        &mut entry.level
    }
}

impl Line for ByAge {
    fn links<K>(entry: &Entry<K>) -> Links {
        entry.age
    }
    fn links_mut<K>(entry: &mut Entry<K>) -> &mut Links {
        &mut entry.age
    }
}

/// The two ends of a line.
#[derive(Debug)]
pub(super) struct List<L> {
    first: u32,
    last: u32,
    line: std::marker::PhantomData<L>,
}

impl<L: Line> List<L> {
    pub(super) fn new() -> Self {
        Self { first: NOWHERE, last: NOWHERE, line: std::marker::PhantomData }
    }

    pub(super) fn first(&self) -> Option<u32> {
        some(self.first)
    }

    /// The addresses from the first to the last.
    pub(super) fn iter<K>(&self, entries: &Entries<K>) -> impl Iterator<Item = u32> {
        std::iter::successors(self.first(), |&address| some(L::links(&entries[address]).next))
    }

    pub(super) fn push_back<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        self.link(entries, address, Links { previous: self.last, next: NOWHERE });
    }

    /// Puts an entry in front of the first one for which `stays_behind` says so, looking from the front.
    pub(super) fn push_front_before<K>(
        &mut self,
        entries: &mut Entries<K>,
        address: u32,
        stays_behind: impl Fn(&Entry<K>) -> bool,
    ) {
        let next = self.iter(entries).find(|&other| stays_behind(&entries[other])).unwrap_or(NOWHERE);
        let previous = if next == NOWHERE { self.last } else { L::links(&entries[next]).previous };
        self.link(entries, address, Links { previous, next });
    }

    pub(super) fn remove<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let Links { previous, next } =
            std::mem::replace(L::links_mut(&mut entries[address]), Links::UNLINKED);
        match some(previous) {
            Some(previous) => L::links_mut(&mut entries[previous]).next = next,
            None => self.first = next,
        }
        match some(next) {
            Some(next) => L::links_mut(&mut entries[next]).previous = previous,
            None => self.last = previous,
        }
    }

    fn link<K>(&mut self, entries: &mut Entries<K>, address: u32, links: Links) {
        *L::links_mut(&mut entries[address]) = links;
        match some(links.previous) {
            Some(previous) => L::links_mut(&mut entries[previous]).next = address,
            None => self.first = address,
        }
        match some(links.next) {
            Some(next) => L::links_mut(&mut entries[next]).previous = address,
            None => self.last = address,
        }
    }
}

fn some(address: u32) -> Option<u32> {
    (address != NOWHERE).then_some(address)
}

//! A line of entries, linked through the entries themselves: joining, leaving and stepping out of the middle cost the same.

use super::entry::{Entries, Entry};
use super::slab::NOWHERE;

/// An entry's neighbours in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) previous: u32,
    pub(super) next: u32,
}

impl Links {
    pub(super) const UNLINKED: Self = Self { previous: NOWHERE, next: NOWHERE };
}

/// The two ends of a line.
#[derive(Debug)]
pub(super) struct List {
    first: u32,
    last: u32,
}

impl List {
    pub(super) fn new() -> Self {
        Self { first: NOWHERE, last: NOWHERE }
    }

    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        some(self.first)
    }

    /// The addresses from the first to the last.
    pub(super) fn iter<K>(&self, entries: &Entries<K>) -> impl Iterator<Item = u32> {
        std::iter::successors(self.first(), |&address| some(entries[address].links.next))
    }

    #[inline]
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
        let previous = if next == NOWHERE { self.last } else { entries[next].links.previous };
        self.link(entries, address, Links { previous, next });
    }

    #[inline]
    pub(super) fn remove<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let Links { previous, next } = std::mem::replace(&mut entries[address].links, Links::UNLINKED);
        match some(previous) {
            Some(previous) => entries[previous].links.next = next,
            None => self.first = next,
        }
        match some(next) {
            Some(next) => entries[next].links.previous = previous,
            None => self.last = previous,
        }
    }

    #[inline]
    fn link<K>(&mut self, entries: &mut Entries<K>, address: u32, links: Links) {
        entries[address].links = links;
        match some(links.previous) {
            Some(previous) => entries[previous].links.next = address,
            None => self.first = address,
        }
        match some(links.next) {
            Some(next) => entries[next].links.previous = address,
            None => self.last = address,
        }
    }
}

#[inline]
fn some(address: u32) -> Option<u32> {
    (address != NOWHERE).then_some(address)
}

//! The entries that are ready, by priority and by age.

use std::collections::BTreeMap;
use std::time::Duration;

use super::entry::{Entries, Pending};
use super::list::{ByAge, ByLevel, List};
use super::moment::Moment;

/// One line per priority, and one line through all of them that remembers who has been ready longest.
#[derive(Debug)]
pub(super) struct Ready {
    levels: BTreeMap<i32, Level>,
    ages: List<ByAge>,
    len: usize,
    next_order: u64,
    /// After this time an entry is overdue; `None` switches ageing off.
    overdue_after: Option<Duration>,
    /// The last hand-out went to an overdue entry, so the next goes by priority.
    overdue_had_its_turn: bool,
}

/// The entries of one priority.
#[derive(Debug)]
struct Level {
    line: List<ByLevel>,
    /// With those that have stepped aside.
    len: usize,
}

impl Ready {
    pub(super) fn new(overdue_after: Option<Duration>) -> Self {
        Self {
            levels: BTreeMap::new(),
            ages: List::new(),
            len: 0,
            next_order: 0,
            overdue_after,
            overdue_had_its_turn: false,
        }
    }

    /// All ready entries, with those whose key is still being processed.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether the next hand-out may depend on the time: some entry may be overdue at a lower priority than another's.
    #[inline]
    pub(super) fn time_matters(&self) -> bool {
        self.overdue_after.is_some() && self.levels.len() > 1
    }

    /// How many entries are ready at one priority.
    pub(super) fn len_at(&self, priority: i32) -> usize {
        self.levels.get(&priority).map_or(0, |level| level.len)
    }

    /// Puts an entry at the end of the line of its priority.
    pub(super) fn push<K>(&mut self, entries: &mut Entries<K>, address: u32, since: Moment) {
        entries[address].at = since;
        self.ages.push_back(entries, address);
        self.len += 1;
        self.join_level(entries, address);
    }

    /// Moves a ready entry to the end of the line of a higher priority. It keeps its age.
    pub(super) fn raise<K>(&mut self, entries: &mut Entries<K>, address: u32, priority: i32) {
        self.leave_level(entries, address);
        entries[address].priority = priority;
        self.join_level(entries, address);
    }

    /// Takes out the entry to be handed out next, skipping keys that are being processed.
    pub(super) fn pop<K>(&mut self, entries: &mut Entries<K>, now: Moment) -> Option<u32> {
        let overdue = self.overdue(entries, now);
        self.overdue_had_its_turn = overdue.is_some();
        let address = overdue.or_else(|| self.first_by_priority(entries))?;
        self.remove(entries, address);
        Some(address)
    }

    /// Lets a parked entry return to its line, in front of all that became ready after it.
    ///
    /// It had reached the head, so only others that have just returned can stand before it: at most one per worker.
    pub(super) fn unpark<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let entry = &mut entries[address];
        entry.pending = Pending::Ready;
        let (priority, order) = (entry.priority, entry.order);
        if let Some(level) = self.levels.get_mut(&priority) {
            level.line.push_front_before(entries, address, |other| other.order > order);
        }
    }

    /// Forgets all entries' places; the entries themselves are the caller's to drop.
    pub(super) fn clear(&mut self) {
        self.levels.clear();
        self.ages = List::new();
        self.len = 0;
    }

    /// The addresses of all ready entries, longest ready first.
    pub(super) fn iter<K>(&self, entries: &Entries<K>) -> impl Iterator<Item = u32> {
        self.ages.iter(entries)
    }

    fn overdue<K>(&self, entries: &Entries<K>, now: Moment) -> Option<u32> {
        let overdue_after = self.overdue_after?;
        if self.overdue_had_its_turn || !self.time_matters() {
            return None;
        }
        self.ages
            .iter(entries)
            .take_while(|&address| now.saturating_since(entries[address].at) >= overdue_after)
            .find(|&address| !entries[address].is_running())
    }

    fn first_by_priority<K>(&mut self, entries: &mut Entries<K>) -> Option<u32> {
        for level in self.levels.values_mut().rev() {
            while let Some(address) = level.line.first() {
                if !entries[address].is_running() {
                    return Some(address);
                }
                // Step aside once instead of being passed over at every hand-out until its key is done.
                level.line.remove(entries, address);
                entries[address].pending = Pending::Parked;
            }
        }
        None
    }

    fn remove<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        self.ages.remove(entries, address);
        self.len -= 1;
        self.leave_level(entries, address);
        entries[address].pending = Pending::No;
    }

    fn join_level<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let entry = &mut entries[address];
        entry.pending = Pending::Ready;
        entry.order = self.next_order;
        self.next_order += 1;
        let level = self.levels.entry(entry.priority).or_insert_with(|| Level { line: List::new(), len: 0 });
        level.line.push_back(entries, address);
        level.len += 1;
    }

    fn leave_level<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let (priority, pending) = (entries[address].priority, entries[address].pending);
        let Some(level) = self.levels.get_mut(&priority) else { return };
        if pending == Pending::Ready {
            level.line.remove(entries, address);
        }
        level.len -= 1;
        if level.len == 0 {
            self.levels.remove(&priority);
        }
    }
}

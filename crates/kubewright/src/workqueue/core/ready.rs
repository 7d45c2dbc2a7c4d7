//! The entries that are ready, by priority and by age.

use std::collections::BTreeMap;
use std::time::Duration;

use super::entry::{Entries, Order, Pending};
use super::list::List;
use super::moment::Moment;

/// One line per priority.
#[derive(Debug)]
pub(super) struct Ready {
    levels: BTreeMap<i32, Level>,
    len: usize,
    next_order: Order,
    /// After this time an entry is overdue; `None` switches ageing off.
    overdue_after: Option<Duration>,
    /// The last hand-out went to an overdue entry, so the next goes by priority.
    overdue_had_its_turn: bool,
}

/// The entries of one priority.
#[derive(Debug)]
struct Level {
    line: List,
    /// With those that have stepped aside.
    len: usize,
}

impl Ready {
    pub(super) fn new(overdue_after: Option<Duration>) -> Self {
        Self {
            levels: BTreeMap::new(),
            len: 0,
            next_order: Order::default(),
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
    #[inline]
    pub(super) fn push<K>(&mut self, entries: &mut Entries<K>, address: u32, since: Moment) {
        entries[address].at = since;
        self.join_level(entries, address);
    }

    /// Moves a ready entry to the end of the line of a higher priority. It keeps its age.
    pub(super) fn raise<K>(&mut self, entries: &mut Entries<K>, address: u32, priority: i32) {
        self.leave_level(entries, address);
        entries[address].priority = priority;
        self.join_level(entries, address);
    }

    /// Takes out the entry to be handed out next, skipping keys that are being processed.
    #[inline]
    pub(super) fn pop<K>(&mut self, entries: &mut Entries<K>, now: Moment) -> Option<u32> {
        let overdue = self.overdue(entries, now);
        self.overdue_had_its_turn = overdue.is_some();
        let address = overdue.or_else(|| self.first_by_priority(entries))?;
        self.leave_level(entries, address);
        entries[address].pending = Pending::No;
        Some(address)
    }

    /// Lets a parked entry return to its line, in front of all that joined it later.
    ///
    /// It had reached the head, so only others that have just returned can stand before it: at most one per worker.
    pub(super) fn unpark<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let entry = &mut entries[address];
        entry.pending = Pending::Ready;
        let (priority, order) = (entry.priority, entry.order);
        if let Some(level) = self.levels.get_mut(&priority) {
            level.line.push_front_before(entries, address, |other| order.is_before(other.order));
        }
    }

    /// Forgets the places of all entries, and returns the addresses of those that stood in a line. The others had stepped aside: their keys
    /// are being processed.
    pub(super) fn clear<K>(&mut self, entries: &Entries<K>) -> Vec<u32> {
        self.len = 0;
        let levels = std::mem::take(&mut self.levels);
        levels.values().flat_map(|level| level.line.iter(entries)).collect()
    }

    /// Of the heads of all lines the one that has been ready longest, if it is overdue. An entry whose priority was raised may have
    /// been ready for longer than those before it; its age counts once it is the head.
    #[inline]
    fn overdue<K>(&mut self, entries: &mut Entries<K>, now: Moment) -> Option<u32> {
        let overdue_after = self.overdue_after?;
        if self.overdue_had_its_turn || !self.time_matters() {
            return None;
        }
        self.levels
            .values_mut()
            .rev()
            .filter_map(|level| level.head(entries).map(|address| (entries[address].at, address)))
            .filter(|&(at, _)| now.saturating_since(at) >= overdue_after)
            .min_by_key(|&(at, _)| at)
            .map(|(_, address)| address)
    }

    #[inline]
    fn first_by_priority<K>(&mut self, entries: &mut Entries<K>) -> Option<u32> {
        self.levels.values_mut().rev().find_map(|level| level.head(entries))
    }

    #[inline]
    fn join_level<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let entry = &mut entries[address];
        entry.pending = Pending::Ready;
        entry.order = self.next_order.advance();
        let level = match self.levels.get_mut(&entry.priority) {
            Some(level) => level,
            None => self.levels.entry(entry.priority).or_insert_with(|| Level { line: List::new(), len: 0 }),
        };
        level.line.push_back(entries, address);
        level.len += 1;
        self.len += 1;
    }

    #[inline]
    fn leave_level<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let (priority, pending) = (entries[address].priority, entries[address].pending);
        let Some(level) = self.levels.get_mut(&priority) else { return };
        if pending == Pending::Ready {
            level.line.remove(entries, address);
        }
        self.len -= 1;
        level.len -= 1;
        if level.len == 0 {
            self.levels.remove(&priority);
        }
    }
}

impl Level {
    /// The first entry whose key is not being processed. Those before it step aside, once, instead of being passed over at every
    /// hand-out until their keys are done.
    #[inline]
    fn head<K>(&mut self, entries: &mut Entries<K>) -> Option<u32> {
        while let Some(address) = self.line.first() {
            if !entries[address].is_running {
                return Some(address);
            }
            self.line.remove(entries, address);
            entries[address].pending = Pending::Parked;
        }
        None
    }
}

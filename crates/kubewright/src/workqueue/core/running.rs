//! The keys that are being processed, and since when.

use std::time::Duration;

use super::entry::Entries;
use super::moment::Moment;
use super::slab::NOWHERE;

/// A dense table: as many rows as busy workers, whatever the number of keys.
#[derive(Debug, Default)]
pub(super) struct Running {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    address: u32,
    since: Moment,
}

impl Running {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn start<K>(&mut self, entries: &mut Entries<K>, address: u32, since: Moment) {
        entries[address].running_position =
            u32::try_from(self.rows.len()).expect("no more keys are processed than there are addresses");
        self.rows.push(Row { address, since });
    }

    /// Ends the processing of an entry, if it is being processed, and tells when it began.
    pub(super) fn finish<K>(&mut self, entries: &mut Entries<K>, address: u32) -> Option<Moment> {
        let position = entries[address].running_position;
        if position == NOWHERE {
            return None;
        }
        entries[address].running_position = NOWHERE;
        let row = self.rows.swap_remove(position as usize);
        if let Some(moved) = self.rows.get(position as usize) {
            entries[moved.address].running_position = position;
        }
        Some(row.since)
    }

    /// For how long each of them has been processed.
    pub(super) fn durations(&self, now: Moment) -> impl Iterator<Item = Duration> {
        self.rows.iter().map(move |row| now.saturating_since(row.since))
    }
}

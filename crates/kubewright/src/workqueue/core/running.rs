//! The keys that are being processed, and since when.

use std::time::Duration;

use super::entry::Entries;
use super::moment::Moment;
use super::table::KeyHash;

/// A dense table with as many rows as busy workers, whatever the number of keys.
///
/// Among a few keys one is found by comparing it with each: who ends it mostly holds a clone, which shares its strings, so that takes
/// less than its hash. Among more it is found by going through the hashes: sixteen of them lie in one cache line, where the table of all
/// keys costs a cache miss.
#[derive(Debug, Default)]
pub(super) struct Running {
    hashes: Vec<KeyHash>,
    /// In the same order.
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    address: u32,
    since: Moment,
}

impl Running {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(super) fn start<K>(&mut self, entries: &mut Entries<K>, address: u32, since: Moment) {
        let entry = &mut entries[address];
        entry.is_running = true;
        self.hashes.push(entry.hash);
        self.rows.push(Row { address, since });
    }

    /// Ends the processing of a key, if it is being processed, and tells where its entry is and when it began.
    #[inline]
    pub(super) fn finish<K: Eq>(
        &mut self,
        entries: &mut Entries<K>,
        key: &K,
        hash: impl FnOnce() -> KeyHash,
    ) -> Option<(u32, Moment)> {
        let position = self.position(entries, key, hash)?;
        self.hashes.swap_remove(position);
        let Row { address, since } = self.rows.swap_remove(position);
        entries[address].is_running = false;
        Some((address, since))
    }

    /// Where the entry of a key is, if it is being processed.
    pub(super) fn address<K: Eq>(
        &self,
        entries: &Entries<K>,
        key: &K,
        hash: impl FnOnce() -> KeyHash,
    ) -> Option<u32> {
        self.position(entries, key, hash).map(|position| self.rows[position].address)
    }

    #[inline]
    fn position<K: Eq>(
        &self,
        entries: &Entries<K>,
        key: &K,
        hash: impl FnOnce() -> KeyHash,
    ) -> Option<usize> {
        let is_it = |row: &Row| entries[row.address].key == *key;
        if self.rows.len() <= FEW {
            return self.rows.iter().position(is_it);
        }
        let hash = hash();
        (0..self.rows.len()).find(|&position| self.hashes[position] == hash && is_it(&self.rows[position]))
    }

    /// Where the entries of all of them are.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().map(|row| row.address)
    }

    /// For how long each of them has been processed.
    pub(super) fn durations(&self, now: Moment) -> impl Iterator<Item = Duration> {
        self.rows.iter().map(move |row| now.saturating_since(row.since))
    }
}

/// So many keys are compared sooner than one is hashed.
const FEW: usize = 4;

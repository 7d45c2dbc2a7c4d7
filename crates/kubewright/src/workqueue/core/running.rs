//! The keys that are being processed, and since when.

use std::time::Duration;

use super::entry::Entries;
use super::moment::Moment;
use super::table::KeyHash;

/// A dense table with as many rows as busy workers, whatever the number of keys.
///
/// A key is found by going through the hashes: sixteen of them lie in one cache line, where the table of all keys costs a cache
/// miss.
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
        hash: KeyHash,
        key: &K,
    ) -> Option<(u32, Moment)> {
        let position = self.position(entries, hash, key)?;
        self.hashes.swap_remove(position);
        let Row { address, since } = self.rows.swap_remove(position);
        entries[address].is_running = false;
        Some((address, since))
    }

    /// Where the entry of a key is, if it is being processed.
    pub(super) fn address<K: Eq>(&self, entries: &Entries<K>, hash: KeyHash, key: &K) -> Option<u32> {
        self.position(entries, hash, key).map(|position| self.rows[position].address)
    }

    #[inline]
    fn position<K: Eq>(&self, entries: &Entries<K>, hash: KeyHash, key: &K) -> Option<usize> {
        (0..self.rows.len()).find(|&position| {
            self.hashes[position] == hash && entries[self.rows[position].address].key == *key
        })
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

//! From a key to the address of its entry.

use std::hash::{BuildHasher, Hash};

use hashbrown::DefaultHashBuilder;

use super::entry::{Entries, Entry};
use super::slab::NOWHERE;

/// Makes the hashes that a [`Table`] looks for. Apart from the table, because hashing a key of strings takes as long as the rest,
/// and needs no lock.
#[derive(Clone, Debug, Default)]
pub(in crate::workqueue) struct KeyHasher(DefaultHashBuilder);

/// The hash of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workqueue) struct KeyHash(u32);

impl KeyHasher {
    pub(in crate::workqueue) fn hash<K: Hash>(&self, key: &K) -> KeyHash {
        KeyHash((self.0.hash_one(key) >> 32) as u32)
    }
}

/// A table of addresses, sorted by hash but for the gaps between them; the keys are in the entries.
///
/// The upper bits of a hash say where its row belongs; it stands there or, if others came first, behind them. So a lookup touches
/// one place of the memory, where a general table touches two, and growing copies from front to back. Both count once
/// a million keys have outgrown the caches.
#[derive(Debug)]
pub(super) struct Table {
    /// A power of two of rows, of which at most three in four are taken.
    rows: Vec<Row>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    hash: u32,
    /// [`NOWHERE`] in a free row.
    address: u32,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { rows: vec![Row::FREE; SMALL], len: 0 }
    }

    /// The address of a key's entry; a new entry if it has none.
    pub(super) fn address_or_insert<K: Eq>(
        &mut self,
        entries: &mut Entries<K>,
        KeyHash(hash): KeyHash,
        key: K,
    ) -> u32 {
        match self.find_row(hash, |address| entries[address].key == key) {
            Ok(position) => self.rows[position].address,
            Err(free) => {
                let address = entries.insert(Entry::new(key));
                self.insert_at(free, Row { hash, address });
                address
            }
        }
    }

    /// The address of a key's entry.
    pub(super) fn find<K: Eq>(&self, entries: &Entries<K>, KeyHash(hash): KeyHash, key: &K) -> Option<u32> {
        let position = self.find_row(hash, |address| entries[address].key == *key).ok()?;
        Some(self.rows[position].address)
    }

    /// Removes the row of an entry.
    #[inline]
    pub(super) fn remove(&mut self, KeyHash(hash): KeyHash, address: u32) {
        if let Ok(position) = self.find_row(hash, |other| other == address) {
            self.close_gap(position);
            self.len -= 1;
        }
        if self.rows.len() > SMALL && self.len < self.rows.len() / 8 {
            self.resize((self.rows.len() / 4).max(SMALL));
        }
    }

    /// How many rows there is memory for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.rows.len()
    }

    /// The position of a row, or that of the free row where the search ended.
    fn find_row(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Result<usize, usize> {
        let mut position = self.home(hash);
        loop {
            let row = self.rows[position];
            if row.address == NOWHERE {
                return Err(position);
            }
            if row.hash == hash && is_it(row.address) {
                return Ok(position);
            }
            position = self.next(position);
        }
    }

    fn insert_at(&mut self, free: usize, row: Row) {
        self.rows[free] = row;
        self.len += 1;
        if self.len > self.rows.len() / 4 * 3 {
            self.resize(self.rows.len() * 2);
        }
    }

    /// Moves up the rows that would not be found behind a gap, so that there are no tombstones.
    fn close_gap(&mut self, mut gap: usize) {
        let mut position = gap;
        loop {
            position = self.next(position);
            let row = self.rows[position];
            if row.address == NOWHERE {
                break;
            }
            let (distance, to_gap) =
                (self.distance(self.home(row.hash), position), self.distance(gap, position));
            if distance >= to_gap {
                self.rows[gap] = row;
                gap = position;
            }
        }
        self.rows[gap] = Row::FREE;
    }

    fn resize(&mut self, capacity: usize) {
        let rows = std::mem::replace(&mut self.rows, vec![Row::FREE; capacity]);
        for row in rows.into_iter().filter(|row| row.address != NOWHERE) {
            // No two rows are of one entry, so there is nothing to compare.
            if let Err(free) = self.find_row(row.hash, |_| false) {
                self.rows[free] = row;
            }
        }
    }

    /// Where the row of a hash belongs.
    fn home(&self, hash: u32) -> usize {
        // The upper bits as a fraction of the table: a multiplication instead of a shift that would have to be stored.
        (hash as usize * self.rows.len()) >> u32::BITS
    }

    fn next(&self, position: usize) -> usize {
        (position + 1) & (self.rows.len() - 1)
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.rows.len() - 1)
    }
}

impl Row {
    const FREE: Self = Self { hash: 0, address: NOWHERE };
}

/// The rows of a table that holds little.
const SMALL: usize = 128;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Hashes of four values only, so that rows crowd, also around the end of the table.
    fn crowded(key: u64) -> KeyHash {
        KeyHash([0, 1 << 20, u32::MAX - 1, u32::MAX][usize::try_from(key % 4).unwrap()])
    }

    #[track_caller]
    fn agrees_with_a_map(steps: u64, keys: u64, hash: impl Fn(u64) -> KeyHash) {
        let (mut entries, mut table, mut map) = (Entries::new(), Table::new(), HashMap::new());
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..steps {
            let key = random.u64(..keys);
            let found = table.find(&entries, hash(key), &key);
            assert_eq!(found, map.get(&key).copied());
            if let Some(address) = found.filter(|_| random.bool()) {
                table.remove(hash(key), address);
                entries.remove(address);
                map.remove(&key);
            } else {
                map.insert(key, table.address_or_insert(&mut entries, hash(key), key));
            }
        }
        for (key, address) in map {
            assert_eq!(table.find(&entries, hash(key), &key), Some(address));
        }
    }

    #[test]
    fn agrees_with_a_map_where_rows_crowd() {
        agrees_with_a_map(20_000, 400, crowded);
    }

    #[test]
    fn agrees_with_a_map_while_growing_and_shrinking() {
        let hasher = KeyHasher::default();
        agrees_with_a_map(50_000, 10_000, |key| hasher.hash(&key));
    }

    #[test]
    fn memory_is_given_back_after_a_burst() {
        let hasher = KeyHasher::default();
        let (mut entries, mut table) = (Entries::new(), Table::new());
        for key in 0..100_000_u64 {
            table.address_or_insert(&mut entries, hasher.hash(&key), key);
        }
        assert!((100_000..300_000).contains(&table.capacity()));
        for key in 0..100_000_u64 {
            let address = table.find(&entries, hasher.hash(&key), &key).unwrap();
            table.remove(hasher.hash(&key), address);
        }
        assert_eq!(table.capacity(), SMALL);
    }
}

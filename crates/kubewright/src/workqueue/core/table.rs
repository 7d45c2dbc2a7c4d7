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
    #[inline]
    pub(in crate::workqueue) fn hash<K: Hash>(&self, key: &K) -> KeyHash {
        KeyHash((self.0.hash_one(key) >> 32) as u32)
    }
}

/// A table of addresses, sorted by hash but for the gaps between them; the keys are in the entries.
///
/// The upper bits of a hash say where its row belongs; it stands there or, if others came first, behind them. So a lookup touches
/// one place of the memory, which can be asked for in advance, where a general table touches two, and growing copies from front to back.
///
/// What that gains over `hashbrown::HashTable` of the same rows, in ns of CPU per key to insert, find and remove, the best of several rounds:
///
/// | keys | here | hashbrown |
/// |---|---|---|
/// | 10⁴ | 45, 20, 33 | 32, 20, 23 |
/// | 10⁵ | 102, 18, 37 | 34, 48, 57 |
/// | 10⁶ | 118, 38, 64 | 224, 237, 269 |
///
/// So it begins to pay at some 10⁵ keys, when they have outgrown the caches, and costs ten nanoseconds a key before.
#[derive(Debug)]
pub(super) struct Table {
    /// As many rows as there are homes, and some more for those that were pushed out at the end. The last one is always free.
    rows: Vec<Row>,
    /// Of these at most three in four are taken.
    homes: usize,
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
        Self { rows: free_rows(SMALL), homes: SMALL, len: 0 }
    }

    /// The address of a key's entry; a new entry if it has none.
    #[inline]
    pub(super) fn address_or_insert<K: Eq>(
        &mut self,
        entries: &mut Entries<K>,
        hash: KeyHash,
        key: K,
    ) -> u32 {
        match self.find_row(hash.0, |address| entries[address].key == key) {
            Ok(position) => self.rows[position].address,
            Err(position) => {
                let address = entries.insert(Entry::new(key, hash));
                self.insert_at(position, Row { hash: hash.0, address });
                address
            }
        }
    }

    /// Asks for the memory where a look-up will begin, and does not wait for it.
    #[inline]
    pub(super) fn prefetch(&self, KeyHash(hash): KeyHash) {
        prefetch_index::prefetch_index(&self.rows, self.home(hash));
    }

    /// Removes the row of an entry.
    #[inline]
    pub(super) fn remove(&mut self, KeyHash(hash): KeyHash, address: u32) {
        if let Ok(position) = self.find_row(hash, |other| other == address) {
            self.close_gap(position);
            self.len -= 1;
        }
        if self.homes > SMALL && self.len < self.homes / 8 {
            self.resize((self.homes / 4).max(SMALL));
        }
    }

    /// How many rows there is memory for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.rows.capacity()
    }

    /// The position of a row, or the one where it would have to be.
    #[inline]
    fn find_row(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Result<usize, usize> {
        // Slices, as a check at each row would cost as much as the row. The last row is free, and ends both searches.
        let home = self.home(hash);
        let first = home + self.rows[home..].iter().take_while(|row| row.hash < hash).count();
        let mut position = first;
        for row in &self.rows[first..] {
            if row.hash != hash || row.address == NOWHERE {
                break;
            }
            if is_it(row.address) {
                return Ok(position);
            }
            position += 1;
        }
        Err(position)
    }

    /// Puts a row in, and moves up those that stand there, as far as the next gap.
    #[inline]
    fn insert_at(&mut self, position: usize, row: Row) {
        let mut moved = row;
        for row in &mut self.rows[position..] {
            std::mem::swap(row, &mut moved);
            if moved.address == NOWHERE {
                break;
            }
        }
        if self.rows.last().is_some_and(|last| last.address != NOWHERE) {
            self.rows.push(Row::FREE);
        }
        self.len += 1;
        if self.len > self.homes / 4 * 3 {
            self.resize(self.homes * 2);
        }
    }

    /// Moves back the rows behind a gap, as far as one that is at home, so that there are no tombstones.
    #[inline]
    fn close_gap(&mut self, mut gap: usize) {
        loop {
            let row = self.rows[gap + 1];
            if row.address == NOWHERE || self.home(row.hash) > gap {
                break;
            }
            self.rows[gap] = row;
            gap += 1;
        }
        self.rows[gap] = Row::FREE;
    }

    fn resize(&mut self, homes: usize) {
        self.homes = homes;
        let rows = std::mem::replace(&mut self.rows, free_rows(homes));
        let mut behind_last = 0;
        for row in rows.into_iter().filter(|row| row.address != NOWHERE) {
            let position = self.home(row.hash).max(behind_last);
            behind_last = position + 1;
            if behind_last == self.rows.len() {
                self.rows.push(Row::FREE);
            }
            self.rows[position] = row;
        }
    }

    /// Where the row of a hash belongs.
    #[inline]
    fn home(&self, hash: u32) -> usize {
        // The hash as a fraction of the table: a multiplication instead of a shift that would have to be stored.
        (hash as usize * self.homes) >> u32::BITS
    }
}

impl Row {
    /// Its hash ends the search for any other.
    const FREE: Self = Self { hash: u32::MAX, address: NOWHERE };
}

fn free_rows(homes: usize) -> Vec<Row> {
    let mut rows = Vec::with_capacity(homes + PUSHED_OUT);
    rows.resize(homes + 1, Row::FREE);
    rows
}

/// The homes of a table that holds little.
const SMALL: usize = 128;
/// Rows that are hardly ever pushed out of a table at its end. More of them take a copy of the table, once.
const PUSHED_OUT: usize = 32;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Hashes of four values only, so that rows crowd, also around the end of the table.
    fn crowded(key: u64) -> KeyHash {
        KeyHash([0, 1 << 20, u32::MAX - 1, u32::MAX][usize::try_from(key % 4).unwrap()])
    }

    fn find(table: &Table, entries: &Entries<u64>, KeyHash(hash): KeyHash, key: u64) -> Option<u32> {
        let position = table.find_row(hash, |address| entries[address].key == key).ok()?;
        Some(table.rows[position].address)
    }

    #[track_caller]
    fn agrees_with_a_map(steps: u64, keys: u64, hash: impl Fn(u64) -> KeyHash) {
        let (mut entries, mut table, mut map) = (Entries::new(), Table::new(), HashMap::new());
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..steps {
            let key = random.u64(..keys);
            let found = find(&table, &entries, hash(key), key);
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
            assert_eq!(find(&table, &entries, hash(key), key), Some(address));
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
            let address = find(&table, &entries, hasher.hash(&key), key).unwrap();
            table.remove(hasher.hash(&key), address);
        }
        assert_eq!(table.capacity(), SMALL + PUSHED_OUT);
    }
}

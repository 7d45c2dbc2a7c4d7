//! From a key to the address of its entry.

use std::hash::{BuildHasher, Hash};

use hashbrown::hash_table::{Entry as TableEntry, OccupiedEntry};
use hashbrown::{DefaultHashBuilder, HashTable};

use super::entry::{Entries, Entry};

/// A hash table that keeps addresses; the keys are in the entries.
#[derive(Debug)]
pub(super) struct Table {
    rows: HashTable<Row>,
    hasher: DefaultHashBuilder,
}

/// An address, and the hash of its key: growing so touches neither entries nor keys, which lie all over the memory.
#[derive(Clone, Copy, Debug)]
struct Row {
    hash: u32,
    address: u32,
}

/// A row that is there.
pub(super) struct Found<'a>(OccupiedEntry<'a, Row>);

impl Found<'_> {
    pub(super) fn address(&self) -> u32 {
        self.0.get().address
    }

    pub(super) fn remove(self) {
        self.0.remove();
    }
}

impl Table {
    pub(super) fn new() -> Self {
        Self { rows: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }

    /// The address of a key's entry; a new entry if it has none.
    pub(super) fn address_or_insert<K: Eq + Hash>(&mut self, entries: &mut Entries<K>, key: K) -> u32 {
        let hash = self.hash(&key);
        match self.rows.entry(spread(hash), |row| is_row(*row, hash, entries, &key), |row| spread(row.hash)) {
            TableEntry::Occupied(row) => row.get().address,
            TableEntry::Vacant(vacant) => {
                let address = entries.insert(Entry::new(key));
                vacant.insert(Row { hash, address });
                address
            }
        }
    }

    pub(super) fn find<K: Eq + Hash>(&mut self, entries: &Entries<K>, key: &K) -> Option<Found<'_>> {
        let hash = self.hash(key);
        self.rows.find_entry(spread(hash), |row| is_row(*row, hash, entries, key)).ok().map(Found)
    }

    /// The row of an entry that is known by its address.
    pub(super) fn find_address<K: Hash>(&mut self, entries: &Entries<K>, address: u32) -> Option<Found<'_>> {
        let hash = self.hash(&entries[address].key);
        self.rows.find_entry(spread(hash), |row| row.address == address).ok().map(Found)
    }

    /// Gives memory back if most of it is unused. Called after removing: the cost spreads over the removals.
    pub(super) fn shrink(&mut self) {
        if self.rows.len() < self.rows.capacity() / 8 && self.rows.capacity() > SMALL {
            self.rows.shrink_to(self.rows.len() * 2, |row| spread(row.hash));
        }
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.rows.capacity()
    }

    fn hash<K: Hash>(&self, key: &K) -> u32 {
        // The upper half of a 64-bit hash is as good as the lower one, and `spread` uses each bit it gets twice.
        (self.hasher.hash_one(key) >> 32) as u32
    }
}

fn is_row<K: Eq>(row: Row, hash: u32, entries: &Entries<K>, key: &K) -> bool {
    row.hash == hash && entries[row.address].key == *key
}

/// A hash as the table wants it: it finds the bucket by the lowest bits and tells neighbours apart by the highest.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// Below this many rows a table is not worth shrinking.
const SMALL: usize = 1024;

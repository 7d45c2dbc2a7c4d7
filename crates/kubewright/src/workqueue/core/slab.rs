//! Storage with stable `u32` addresses that grows without copying and gives memory back.

use std::collections::BTreeSet;
use std::ops::{Index, IndexMut};

/// Values in chunks of [`CHUNK`].
///
/// A vector that doubles would hold up to twice, and while it grows three times, what it needs, and could never shrink under
/// stable addresses. Chunks are freed one by one as they become empty, except for one that is kept warm so that a queue
/// that hovers around empty does not allocate.
#[derive(Debug)]
pub(super) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// Allocated chunks with room, lowest first, so that the tail empties.
    open: BTreeSet<u32>,
    /// Numbers of chunks without an allocation.
    released: Vec<u32>,
    /// Slots without a value in allocated chunks.
    vacant: usize,
}

impl<T> Slab<T> {
    pub(super) fn new() -> Self {
        Self { chunks: Vec::new(), open: BTreeSet::new(), released: Vec::new(), vacant: 0 }
    }

    /// Stores a value and returns its address.
    #[inline]
    pub(super) fn insert(&mut self, value: T) -> u32 {
        let number = match self.open.first() {
            Some(&number) => number,
            None => self.allocate(),
        };
        let chunk = &mut self.chunks[number as usize];
        let offset = chunk.insert(value);
        if chunk.is_full() {
            self.open.remove(&number);
        }
        self.vacant -= 1;
        (number << CHUNK_BITS) | offset
    }

    /// Takes the value out of an address that `insert` returned.
    #[inline]
    pub(super) fn remove(&mut self, address: u32) -> T {
        let number = address >> CHUNK_BITS;
        let chunk = &mut self.chunks[number as usize];
        if chunk.is_full() {
            self.open.insert(number);
        }
        let value = chunk.remove(address & OFFSET);
        self.vacant += 1;
        if chunk.live == 0 && self.vacant > CHUNK {
            self.release(number);
        }
        value
    }

    /// Whether nothing is stored.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.live == 0)
    }

    /// Chunks that hold memory at this moment.
    #[cfg(test)]
    pub(super) fn allocated_chunks(&self) -> usize {
        self.chunks.len() - self.released.len()
    }

    fn allocate(&mut self) -> u32 {
        let number = self.released.pop().unwrap_or_else(|| {
            self.chunks.push(Chunk::released());
            u32::try_from(self.chunks.len() - 1).expect("addresses end before chunk numbers do")
        });
        assert!(number < NOWHERE >> CHUNK_BITS, "a queue holds fewer than 2^32 keys");
        self.chunks[number as usize].slots.reserve_exact(CHUNK);
        self.open.insert(number);
        self.vacant += CHUNK;
        number
    }

    fn release(&mut self, number: u32) {
        self.chunks[number as usize] = Chunk::released();
        self.open.remove(&number);
        self.released.push(number);
        self.vacant -= CHUNK;
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, address: u32) -> &T {
        match &self.chunks[(address >> CHUNK_BITS) as usize].slots[(address & OFFSET) as usize] {
            Slot::Occupied(value) => value,
            Slot::Vacant { .. } => unreachable!("an address outlived its value"),
        }
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, address: u32) -> &mut T {
        match &mut self.chunks[(address >> CHUNK_BITS) as usize].slots[(address & OFFSET) as usize] {
            Slot::Occupied(value) => value,
            Slot::Vacant { .. } => unreachable!("an address outlived its value"),
        }
    }
}

#[derive(Debug)]
struct Chunk<T> {
    slots: Vec<Slot<T>>,
    /// The first vacant slot among those used before, or [`NOWHERE`].
    vacant: u32,
    live: usize,
}

#[derive(Debug)]
enum Slot<T> {
    Occupied(T),
    Vacant { next: u32 },
}

impl<T> Chunk<T> {
    fn released() -> Self {
        Self { slots: Vec::new(), vacant: NOWHERE, live: 0 }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.live == CHUNK
    }

    #[inline]
    fn insert(&mut self, value: T) -> u32 {
        self.live += 1;
        let offset = self.vacant;
        if let Some(slot) = self.slots.get_mut(offset as usize) {
            if let Slot::Vacant { next } = *slot {
                self.vacant = next;
            }
            *slot = Slot::Occupied(value);
            return offset;
        }
        self.slots.push(Slot::Occupied(value));
        u32::try_from(self.slots.len() - 1).expect("a chunk holds CHUNK slots")
    }

    #[inline]
    fn remove(&mut self, offset: u32) -> T {
        let vacant = Slot::Vacant { next: self.vacant };
        match std::mem::replace(&mut self.slots[offset as usize], vacant) {
            Slot::Occupied(value) => {
                self.vacant = offset;
                self.live -= 1;
                value
            }
            Slot::Vacant { .. } => unreachable!("an address was removed twice"),
        }
    }
}

/// Slots in a chunk: 16 kB of entries with the usual 32-byte key.
const CHUNK: usize = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 8;
const OFFSET: u32 = (1 << CHUNK_BITS) - 1;
/// The address of nothing. Also the last address, which `allocate` never gives out.
pub(super) const NOWHERE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_stable_and_reused() {
        let mut slab = Slab::new();
        let addresses: Vec<u32> = (0..1000).map(|value| slab.insert(value)).collect();
        for (value, &address) in addresses.iter().enumerate() {
            assert_eq!(slab[address], value);
        }

        assert_eq!(slab.remove(addresses[300]), 300);
        assert_eq!(slab.insert(7), addresses[300]);
        assert_eq!(slab[addresses[301]], 301);
    }

    #[test]
    fn memory_is_given_back_after_a_burst() {
        let mut slab = Slab::new();
        let addresses: Vec<u32> = (0..100 * CHUNK).map(|value| slab.insert(value)).collect();
        assert_eq!(slab.allocated_chunks(), 100);

        for address in addresses {
            slab.remove(address);
        }
        assert_eq!(slab.allocated_chunks(), 1, "one chunk stays warm");
        slab.insert(1);
        assert_eq!(slab.allocated_chunks(), 1, "and is used again");
    }

    #[test]
    fn scattered_survivors_are_joined_by_newcomers() {
        let mut slab = Slab::new();
        let addresses: Vec<u32> = (0..10 * CHUNK).map(|value| slab.insert(value)).collect();
        for &address in addresses.iter().filter(|&&address| address % 2 == 1) {
            slab.remove(address);
        }
        for value in 0..5 * CHUNK {
            slab.insert(value);
        }
        assert_eq!(slab.allocated_chunks(), 10);
    }
}

//! Entries that became idle, until they are dropped.

use super::entry::Entries;

/// A short list of addresses.
///
/// Dropping an entry takes a look-up, which waits for the memory when there are many keys. So entries that leave wait for
/// others: by the time the list is full, the memory of their rows has come.
#[derive(Debug, Default)]
pub(super) struct Departures {
    addresses: Vec<u32>,
}

impl Departures {
    /// Puts an entry on the list, unless it has stood there since an earlier departure.
    #[inline]
    pub(super) fn join<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        if !std::mem::replace(&mut entries[address].departs, true) {
            self.addresses.push(address);
        }
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.addresses.len() >= FULL
    }

    /// Takes an entry off the list. It may have come back to the queue since.
    #[inline]
    pub(super) fn pop<K>(&mut self, entries: &mut Entries<K>) -> Option<u32> {
        let address = self.addresses.pop()?;
        entries[address].departs = false;
        Some(address)
    }
}

/// About as many as a processor core can wait for at once.
const FULL: usize = 16;

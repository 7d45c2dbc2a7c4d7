//! Keys that came and have not been merged into the queue yet.

use std::sync::atomic::{AtomicBool, Ordering};

use super::super::core::Arrival;
use super::super::runtime::{Lock, Runtime};

/// A list in front of the desk, under a lock of its own that is held for a few nanoseconds.
///
/// Merging a key takes ten times as long as leaving it here, and merging many at once takes less for each. So who adds a key
/// leaves it here and goes on, unless somebody waits for keys. Whoever asks the desk about ready keys merges first.
pub(super) struct Inbox<K: Send, R: Runtime> {
    list: R::Lock<List<K>>,
    /// Whether the list has keys, for those who do not want to take the lock for nothing. It changes under the lock.
    filled: AtomicBool,
}

#[derive(Debug)]
struct List<K> {
    arrivals: Vec<Arrival<K>>,
    /// Somebody waits for keys.
    urgent: bool,
}

/// What is to be done after a key was left in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Nothing,
    /// Many keys lie here: somebody should merge them.
    Merge,
    /// The keys have to be merged: somebody waits for them, or there are too many.
    Deliver,
}

impl<K: Send, R: Runtime> Inbox<K, R> {
    pub(super) fn new() -> Self {
        let list = List { arrivals: Vec::new(), urgent: false };
        Self { list: R::Lock::new(list), filled: AtomicBool::new(false) }
    }

    #[inline]
    pub(super) fn push(&self, arrival: Arrival<K>) -> Next {
        self.list.with(|list| {
            if list.arrivals.is_empty() {
                self.filled.store(true, Ordering::Release);
            }
            list.arrivals.push(arrival);
            if list.urgent || list.arrivals.len() >= TOO_MANY {
                Next::Deliver
            } else if list.arrivals.len().is_multiple_of(MANY) {
                Next::Merge
            } else {
                Next::Nothing
            }
        })
    }

    /// Takes all keys out, by way of an empty list. A key that comes at the same moment may be left here.
    #[inline]
    pub(super) fn swap(&self, emptied: &mut Vec<Arrival<K>>) {
        if self.filled.load(Ordering::Acquire) {
            self.list.with(|list| self.swap_locked(list, emptied));
        }
    }

    /// Says whether somebody waits for keys, and takes out all that came before.
    pub(super) fn set_urgent(&self, urgent: bool, emptied: &mut Vec<Arrival<K>>) {
        self.list.with(|list| {
            list.urgent = urgent;
            self.swap_locked(list, emptied);
        });
    }

    fn swap_locked(&self, list: &mut List<K>, emptied: &mut Vec<Arrival<K>>) {
        std::mem::swap(&mut list.arrivals, emptied);
        self.filled.store(false, Ordering::Release);
    }
}

/// So many keys make the merging of each as cheap as it gets.
const MANY: usize = 64;
/// Above this, who adds has to wait for who merges. It bounds the memory.
const TOO_MANY: usize = 256;

//! What the queue knows about one key.

use super::list::Links;
use super::moment::Moment;
use super::slab::{NOWHERE, Slab};
use super::table::KeyHash;

/// The entries, addressed by `u32`.
pub(super) type Entries<K> = Slab<Entry<K>>;

/// One key that is queued, being processed, or both.
///
/// With the usual 32-byte key it takes 64 bytes; a test holds it there. A queue that grows pays for each byte with a share of the
/// time in which the system finds memory for it.
#[derive(Debug)]
pub(super) struct Entry<K> {
    pub(super) key: K,
    /// When waiting: when it is due. When ready: since when.
    pub(super) at: Moment,
    /// Neighbours in the line of its priority. An entry that waits stands in no line; see
    /// [`heap_position`](Self::heap_position).
    pub(super) links: Links,
    pub(super) hash: KeyHash,
    pub(super) priority: i32,
    pub(super) order: Order,
    pub(super) pending: Pending,
    /// A failure has been counted for this stay in the queue.
    pub(super) rate_limited: bool,
    pub(super) is_running: bool,
    /// It stands in the list of departures, also if it has come back since.
    pub(super) departs: bool,
}

/// Where the next hand-out of a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// None is asked for: the key is being processed, or about to be dropped.
    No,
    /// It becomes ready at `at`.
    Waiting,
    /// It stands in the line of its priority; while the key is being processed it cannot leave it.
    Ready,
    /// It reached the head of its line while its key was being processed, and stepped aside until that is done.
    Parked,
}

/// A place in the order in which entries joined something.
///
/// It wraps around: of two that are 2³¹ or more apart, either may pass for the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Order(u32);

impl<K> Entry<K> {
    #[inline]
    pub(super) fn new(key: K, hash: KeyHash) -> Self {
        Self {
            key,
            at: Moment::START,
            links: Links::UNLINKED,
            hash,
            priority: 0,
            order: Order::default(),
            pending: Pending::No,
            rate_limited: false,
            is_running: false,
            departs: false,
        }
    }

    /// Neither queued nor being processed.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.pending == Pending::No && !self.is_running
    }

    /// The position in the heap of waiting entries, which takes the place of a neighbour.
    pub(super) fn heap_position(&self) -> u32 {
        self.links.next
    }

    pub(super) fn set_heap_position(&mut self, position: u32) {
        self.links = Links { previous: NOWHERE, next: position };
    }
}

impl Order {
    /// The place of the next to come; this one is taken.
    pub(super) fn advance(&mut self) -> Self {
        std::mem::replace(self, Self(self.0.wrapping_add(1)))
    }

    pub(super) fn is_before(self, other: Self) -> bool {
        // The distance as a signed number: negative if `other` lies ahead.
        self.0.wrapping_sub(other.0).cast_signed() < 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn entry_stays_small() {
        assert_eq!(size_of::<Entry<u64>>(), 40);
        assert_eq!(size_of::<Entry<(Option<Arc<str>>, Arc<str>)>>(), 64);
        assert_eq!(size_of::<Option<Entry<u64>>>(), 40);
    }

    #[test]
    fn order_wraps_around() {
        let mut next = Order(u32::MAX);
        let (last, first) = (next.advance(), next.advance());

        assert!(last.is_before(first));
        assert!(!first.is_before(last));
        assert!(!first.is_before(first));
    }
}

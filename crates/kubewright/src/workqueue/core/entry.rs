//! What the queue knows about one key.

use super::list::Links;
use super::moment::Moment;
use super::slab::{NOWHERE, Slab};

/// The entries, addressed by `u32`.
pub(super) type Entries<K> = Slab<Entry<K>>;

/// One key that is queued, being processed, or both.
///
/// With a 32-byte key it takes 80 bytes; a test holds it there.
#[derive(Debug)]
pub(super) struct Entry<K> {
    pub(super) key: K,
    /// When waiting: when it is due. When ready: since when.
    pub(super) at: Moment,
    /// Position among the entries that came to where they are: of becoming ready (or being raised) when ready, of being
    /// added when waiting.
    pub(super) order: u64,
    /// Neighbours in the line of its priority.
    pub(super) level: Links,
    /// Neighbours in the line of all ready entries, longest ready first.
    pub(super) age: Links,
    pub(super) priority: i32,
    /// Position in the heap of waiting entries.
    pub(super) heap_position: u32,
    /// Position in the table of keys being processed, or [`NOWHERE`].
    pub(super) running_position: u32,
    pub(super) pending: Pending,
    /// A failure has been counted for this stay in the queue.
    pub(super) rate_limited: bool,
}

/// Where the next hand-out of a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// None is asked for: the key is only being processed.
    No,
    /// It becomes ready at `at`.
    Waiting,
    /// It stands in the line of its priority; while the key is being processed it cannot leave it.
    Ready,
    /// It reached the head of its line while its key was being processed, and stepped aside until that is done.
    Parked,
}

impl<K> Entry<K> {
    pub(super) fn new(key: K) -> Self {
        Self {
            key,
            at: Moment::START,
            order: 0,
            level: Links::UNLINKED,
            age: Links::UNLINKED,
            priority: 0,
            heap_position: NOWHERE,
            running_position: NOWHERE,
            pending: Pending::No,
            rate_limited: false,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running_position != NOWHERE
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn entry_stays_small() {
        assert_eq!(size_of::<Entry<u64>>(), 56);
        assert_eq!(size_of::<Entry<(Option<Arc<str>>, Arc<str>)>>(), 80);
        assert_eq!(size_of::<Option<Entry<u64>>>(), 56);
    }
}

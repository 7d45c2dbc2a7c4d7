//! The failures of each key, for the limiters that count them.

use std::hash::Hash;
use std::time::Duration;

use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;
use tokio::time::Instant;

/// Counts failures per key until they are forgotten or long past.
///
/// A key that nobody forgets, because its object is gone or its error was terminal, must not stay for ever: its count expires
/// once `RETENTION` has passed since its last delay ended. Expired counts are swept out whenever the table would grow, so it
/// never holds more than twice the keys that have failed lately.
#[derive(Debug)]
pub(super) struct Failures<K> {
    counts: HashMap<K, Count>,
    /// Sweep when this many keys are counted.
    sweep_at: usize,
}

#[derive(Debug)]
struct Count {
    failures: u32,
    expires: Option<Instant>,
}

impl<K: Clone + Eq + Hash> Failures<K> {
    pub(super) fn new() -> Self {
        Self { counts: HashMap::new(), sweep_at: SMALL }
    }

    /// Counts a failure; `delay` makes a delay of the number of failures before this one.
    pub(super) fn count(&mut self, key: &K, now: Instant, delay: impl FnOnce(u32) -> Duration) -> Duration {
        if self.counts.len() >= self.sweep_at {
            self.sweep(now);
        }
        let count = match self.counts.entry_ref(key) {
            EntryRef::Occupied(count) => count.into_mut(),
            EntryRef::Vacant(vacant) => vacant.insert_entry_with_key(key.clone(), Count::NONE).into_mut(),
        };
        if count.is_expired(now) {
            count.failures = 0;
        }
        let delay = delay(count.failures);
        count.failures = count.failures.saturating_add(1);
        count.expires = now.checked_add(delay.saturating_add(RETENTION));
        delay
    }

    pub(super) fn forget(&mut self, key: &K) {
        if self.counts.is_empty() {
            return;
        }
        self.counts.remove(key);
        if self.counts.len() < self.counts.capacity() / 8 && self.counts.capacity() > SMALL {
            self.shrink();
        }
    }

    pub(super) fn get(&self, key: &K) -> u32 {
        self.counts.get(key).map_or(0, |count| count.failures)
    }

    /// Keys that are remembered, and for how many there is memory.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        (self.counts.len(), self.counts.capacity())
    }

    fn sweep(&mut self, now: Instant) {
        self.counts.retain(|_, count| !count.is_expired(now));
        self.shrink();
    }

    fn shrink(&mut self) {
        self.sweep_at = (self.counts.len() * 2).max(SMALL);
        self.counts.shrink_to(self.sweep_at);
    }
}

impl Count {
    const NONE: Self = Self { failures: 0, expires: None };

    /// An expiry too far ahead to be expressed never comes.
    fn is_expired(&self, now: Instant) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// How long a failure is remembered after its delay has ended: longer than a reconcile that fails in the end.
const RETENTION: Duration = Duration::from_secs(60 * 60);
/// Below this many keys a table is not worth sweeping or shrinking.
const SMALL: usize = 1024;

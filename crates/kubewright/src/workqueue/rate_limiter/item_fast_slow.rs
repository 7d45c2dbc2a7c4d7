//! A short delay for the first failures of a key, a long one for the rest.

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;
use super::failures::Failures;

/// Waits `fast_delay` after each of the first `max_fast_attempts` failures of a key, `slow_delay` after the others.
///
/// Source: client-go `workqueue.TypedItemFastSlowRateLimiter`.
///
/// # Differences from Go
///
/// A count that nobody forgets expires an hour after its last delay ended; in Go it stays until the process ends.
#[derive(Debug)]
pub struct ItemFastSlowRateLimiter<K> {
    fast_delay: Duration,
    slow_delay: Duration,
    max_fast_attempts: u32,
    failures: Failures<K>,
}

impl<K: Clone + Eq + Hash> ItemFastSlowRateLimiter<K> {
    /// Makes a limiter.
    pub fn new(fast_delay: Duration, slow_delay: Duration, max_fast_attempts: u32) -> Self {
        Self { fast_delay, slow_delay, max_fast_attempts, failures: Failures::new() }
    }
}

impl<K: Clone + Eq + Hash + Send + fmt::Debug> RateLimiter<K> for ItemFastSlowRateLimiter<K> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        let (fast, slow, attempts) = (self.fast_delay, self.slow_delay, self.max_fast_attempts);
        self.failures.count(key, now, |failures| if failures < attempts { fast } else { slow })
    }

    fn forget(&mut self, key: &K) {
        self.failures.forget(key);
    }

    fn num_requeues(&self, key: &K) -> u32 {
        self.failures.get(key)
    }
}

//! Each key's delay doubles with each of its failures.

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;
use super::failures::Failures;

/// Waits `base_delay · 2ⁿ` after the n-th failure of a key (counted from zero), at most `max_delay`.
///
/// Default: 5 ms and 1000 s, so that the 16th retry comes some five and a half minutes after the first failure.
///
/// Source: client-go `workqueue.TypedItemExponentialFailureRateLimiter`.
///
/// # Differences from Go
///
/// A count that nobody forgets expires an hour after its last delay ended; in Go it stays until the process ends.
#[derive(Debug)]
pub struct ItemExponentialFailureRateLimiter<K> {
    base_delay: Duration,
    max_delay: Duration,
    failures: Failures<K>,
}

impl<K: Clone + Eq + Hash> ItemExponentialFailureRateLimiter<K> {
    /// Makes a limiter; any two durations are accepted, and `max_delay` wins over `base_delay`.
    pub fn new(base_delay: Duration, max_delay: Duration) -> Self {
        Self { base_delay, max_delay, failures: Failures::new() }
    }
}

impl<K: Clone + Eq + Hash> Default for ItemExponentialFailureRateLimiter<K> {
    fn default() -> Self {
        Self::new(BASE_DELAY, MAX_DELAY)
    }
}

impl<K: Clone + Eq + Hash + Send + fmt::Debug> RateLimiter<K> for ItemExponentialFailureRateLimiter<K> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        let (base, max) = (self.base_delay, self.max_delay);
        self.failures.count(key, now, |failures| doubled(base, max, failures))
    }

    fn forget(&mut self, key: &K) {
        self.failures.forget(key);
    }

    fn num_requeues(&self, key: &K) -> u32 {
        self.failures.get(key)
    }
}

/// The delay after so many failures, by the limiter's default: for what is tried again beside a queue.
pub(crate) fn default_backoff(failures: u32) -> Duration {
    doubled(BASE_DELAY, MAX_DELAY, failures)
}

fn doubled(base: Duration, max: Duration, times: u32) -> Duration {
    // 2^32 times anything that is not zero is beyond what a `Duration` of nanoseconds is asked to hold.
    2_u32
        .checked_pow(times)
        .and_then(|factor| base.checked_mul(factor))
        .map_or(if base.is_zero() { Duration::ZERO } else { max }, |delay| delay.min(max))
}

const BASE_DELAY: Duration = Duration::from_millis(5);
const MAX_DELAY: Duration = Duration::from_secs(1000);

//! One token bucket for all keys.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// Lets `burst` keys through at once and then one per `interval`, whichever keys they are.
///
/// Default: 10 per second, burst 100. Every call takes a token, on credit if none is left: the delay is how long it takes until
/// the credit is paid back.
///
/// Source: client-go `workqueue.TypedBucketRateLimiter` over `golang.org/x/time/rate.Limiter`.
#[derive(Debug)]
pub struct BucketRateLimiter {
    interval: Duration,
    burst: NonZeroU32,
    /// When the bucket will be full again; `None` until the first token is taken.
    full_at: Option<Instant>,
}

impl BucketRateLimiter {
    /// Makes a full bucket that gains a token per `interval` and holds `burst` of them.
    ///
    /// An `interval` of zero lets everything through.
    pub fn new(interval: Duration, burst: NonZeroU32) -> Self {
        Self { interval, burst, full_at: None }
    }
}

impl Default for BucketRateLimiter {
    fn default() -> Self {
        Self::new(Duration::from_millis(100), NonZeroU32::MIN.saturating_add(99))
    }
}

impl<K> RateLimiter<K> for BucketRateLimiter {
    fn when(&mut self, _key: &K, now: Instant) -> Duration {
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now));
        let full_again = full_at.checked_add(self.interval).unwrap_or(full_at);
        self.full_at = Some(full_again);
        // Tokens that are missing when this one is taken, in time; the burst is how much may be missing for free.
        let missing = full_again.saturating_duration_since(now);
        missing.saturating_sub(self.interval.saturating_mul(self.burst.get()))
    }

    fn forget(&mut self, _key: &K) {}

    /// Always zero: a bucket counts tokens, not keys.
    fn num_requeues(&self, _key: &K) -> u32 {
        0
    }
}

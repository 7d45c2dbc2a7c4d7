//! Another limiter's delay, capped.

use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// Waits as long as the inner limiter says, but at most `max_delay`.
///
/// Source: client-go `workqueue.TypedWithMaxWaitRateLimiter`.
#[derive(Debug)]
pub struct WithMaxWaitRateLimiter<L> {
    inner: L,
    max_delay: Duration,
}

impl<L> WithMaxWaitRateLimiter<L> {
    /// Caps the delays of `inner`.
    pub fn new(inner: L, max_delay: Duration) -> Self {
        Self { inner, max_delay }
    }
}

impl<K, L: RateLimiter<K>> RateLimiter<K> for WithMaxWaitRateLimiter<L> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        self.inner.when(key, now).min(self.max_delay)
    }

    fn forget(&mut self, key: &K) {
        self.inner.forget(key);
    }

    fn num_requeues(&self, key: &K) -> u32 {
        self.inner.num_requeues(key)
    }
}

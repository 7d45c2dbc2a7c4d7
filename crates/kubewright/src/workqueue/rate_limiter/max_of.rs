//! The longest delay of several limiters.

use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// Asks several limiters and waits for the longest delay. With no limiter in it there is no delay.
///
/// Source: client-go `workqueue.TypedMaxOfRateLimiter`.
#[derive(Debug)]
pub struct MaxOfRateLimiter<K> {
    limiters: Vec<Box<dyn RateLimiter<K>>>,
}

impl<K> MaxOfRateLimiter<K> {
    /// Makes a limiter of others.
    pub fn new(limiters: impl IntoIterator<Item = Box<dyn RateLimiter<K>>>) -> Self {
        Self { limiters: limiters.into_iter().collect() }
    }
}

impl<K: std::fmt::Debug> RateLimiter<K> for MaxOfRateLimiter<K> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        // Every one is asked, also behind a longer delay: each has its own count to keep.
        self.limiters.iter_mut().map(|limiter| limiter.when(key, now)).max().unwrap_or_default()
    }

    fn forget(&mut self, key: &K) {
        self.limiters.iter_mut().for_each(|limiter| limiter.forget(key));
    }

    fn num_requeues(&self, key: &K) -> u32 {
        self.limiters.iter().map(|limiter| limiter.num_requeues(key)).max().unwrap_or_default()
    }
}

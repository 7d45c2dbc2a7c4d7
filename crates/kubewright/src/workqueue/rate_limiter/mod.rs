//! How long a key waits before it is tried again.
//!
//! | limiter | delay | Go |
//! |---|---|---|
//! | [`ItemExponentialFailureRateLimiter`] | doubles with each failure of the key | the same |
//! | [`ItemFastSlowRateLimiter`] | one delay for the first failures of the key, another for the rest | the same |
//! | [`BucketRateLimiter`] | one token bucket for all keys | the same |
//! | [`MaxOfRateLimiter`] | the longest that any of several limiters asks for | the same |
//! | [`WithMaxWaitRateLimiter`] | that of another limiter, capped | the same |

mod bucket;
mod failures;
mod item_exponential;
mod item_fast_slow;
mod max_of;
mod with_max_wait;

#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

pub use self::bucket::BucketRateLimiter;
pub use self::item_exponential::ItemExponentialFailureRateLimiter;
pub(crate) use self::item_exponential::default_backoff;
pub use self::item_fast_slow::ItemFastSlowRateLimiter;
pub use self::max_of::MaxOfRateLimiter;
pub use self::with_max_wait::WithMaxWaitRateLimiter;

/// Decides how long a key waits after a failure, and remembers what it needs for that.
///
/// A queue owns its limiter and calls it under its lock: it must not block and cannot call the queue. Two queues so never share
/// the failures of a key.
///
/// Source: client-go `workqueue.TypedRateLimiter`.
///
/// # Differences from Go
///
/// The time comes in as an argument, so that a limiter has no clock of its own. Methods take `&mut self`, because the owner is
/// one queue; in Go a limiter handed to two queues lets one forget the other's failures.
///
/// # Example: the same delay for every key
///
/// ```
/// use std::time::Duration;
///
/// use kubewright::workqueue::{Queue, QueueOptions, RateLimiter};
/// use tokio::time::Instant;
///
/// #[derive(Debug)]
/// struct Constant(Duration);
///
/// impl<K> RateLimiter<K> for Constant {
///     fn when(&mut self, _key: &K, _now: Instant) -> Duration {
///         self.0
///     }
///     fn forget(&mut self, _key: &K) {}
///     fn num_requeues(&self, _key: &K) -> u32 {
///         0
///     }
/// }
///
/// let queue = Queue::<String>::new(QueueOptions::new("example").rate_limiter(Constant(Duration::from_secs(3))));
/// queue.add_rate_limited("shop/basket".to_owned());
/// assert!(queue.is_empty(), "it waits for three seconds");
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` does not limit the rate of keys of type `{K}`")]
pub trait RateLimiter<K>: fmt::Debug + Send {
    /// Counts a failure of `key` and says how long it has to wait before it is tried again.
    fn when(&mut self, key: &K, now: Instant) -> Duration;

    /// Drops what is known about `key`: it succeeded, or nobody will try again.
    fn forget(&mut self, key: &K);

    /// How many failures of `key` are remembered.
    fn num_requeues(&self, key: &K) -> u32;
}

impl<K> RateLimiter<K> for Box<dyn RateLimiter<K>> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        (**self).when(key, now)
    }

    fn forget(&mut self, key: &K) {
        (**self).forget(key);
    }

    fn num_requeues(&self, key: &K) -> u32 {
        (**self).num_requeues(key)
    }
}

/// The limiter of a queue that was given none: each key's own exponential backoff, 5 ms to 1000 s, and no limit over all keys.
///
/// Source: controller-runtime `priorityqueue.New`.
pub fn default_rate_limiter<K: Clone + Eq + Hash + Send + fmt::Debug + 'static>() -> Box<dyn RateLimiter<K>> {
    Box::new(ItemExponentialFailureRateLimiter::default())
}

/// The limiter of controllers in front of the priority queue: the longer of each key's own exponential backoff (5 ms to 1000 s)
/// and a token bucket over all keys (10 per second, burst 100).
///
/// Source: client-go `workqueue.DefaultTypedControllerRateLimiter`.
pub fn default_controller_rate_limiter<K: Clone + Eq + Hash + Send + fmt::Debug + 'static>()
-> Box<dyn RateLimiter<K>> {
    Box::new(MaxOfRateLimiter::new([default_rate_limiter(), Box::new(BucketRateLimiter::default())]))
}

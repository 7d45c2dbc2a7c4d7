//! The queue between those who notice that something changed and those who reconcile it.
//!
//! A [`Queue`] holds keys, not events. However often a key is added before a worker takes it, it is handed out once; added
//! while a worker processes it, it is handed out once more as soon as that worker is [`done`](Queue::done). So no key is ever
//! in two workers, and none that was added is forgotten.
//!
//! Keys come out by priority, and within a priority in the order in which they became ready. A key that has been ready for
//! long is handed out in between, so that the lowest priority does not starve ([`QueueOptions::aging`]).
//!
//! # Example: a worker
//!
//! ```
//! use kubewright::workqueue::{Queue, QueueOptions};
//!
//! # async fn reconcile(_: &str) -> Result<(), String> { Ok(()) }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let queue = Queue::new(QueueOptions::new("baskets"));
//! queue.add("shop/basket".to_owned());
//! queue.add("shop/basket".to_owned());
//! assert_eq!(queue.len(), 1);
//!
//! # queue.add("shop/till".to_owned());
//! while let Some((key, _priority)) = queue.get().await {
//!     match reconcile(&key).await {
//!         Ok(()) => queue.forget(&key),
//!         Err(_) => queue.add_rate_limited(key.clone()),
//!     }
//!     queue.done(&key);
//! #   if queue.is_empty() { queue.shut_down(); }
//! }
//! # }
//! ```
//!
//! # Differences from Go
//!
//! This is controller-runtime's priority queue. Where client-go's plain queue behaves otherwise, or where we leave both:
//!
//! | | priority queue | plain queue | here |
//! |---|---|---|---|
//! | adding a key that waits | it becomes ready, the timer is gone | both, so it is handed out twice | as the priority queue |
//! | low priority under load | starves | – | [ageing](QueueOptions::aging) |
//! | a failure | each rate-limited add counts | each rate-limited add counts | [at most one per stay in the queue](AddOptions::rate_limited) |
//! | `shut_down` drops what is ready | yes | no | yes |
//! | `shut_down_with_drain` | same as `shut_down` | hands out what is ready, waits for workers | as the plain queue, and [returns after the last of both](Queue::shut_down_with_drain) |

mod core;
mod line;
mod metrics;
mod options;
mod queue;
mod rate_limiter;
mod runtime;
mod shell;

pub use self::metrics::{DurationHistogram, MetricsProvider, QueueMetrics, QueueStats};
pub use self::options::{AddOptions, QueueOptions};
pub use self::queue::Queue;
pub(crate) use self::rate_limiter::default_backoff;
pub use self::rate_limiter::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter, MaxOfRateLimiter,
    RateLimiter, WithMaxWaitRateLimiter, default_controller_rate_limiter, default_rate_limiter,
};

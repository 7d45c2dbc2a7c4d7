//! What is measured of a queue, and who is told.
//!
//! The queue counts in plain numbers, under the lock that it holds anyway, and is read when somebody asks: an operation
//! pays a few nanoseconds, and there is no task that keeps gauges up to date.

mod histogram;
mod prometheus;
mod recorder;

use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Weak};

pub use self::histogram::DurationHistogram;
pub use self::recorder::QueueStats;
pub(super) use self::recorder::Recorder;
use super::runtime::Runtime;
use super::shell::Shell;

/// Is told about each queue that has a name.
///
/// Default: the process-wide [`metrics::registry`](crate::metrics::registry), which is a provider like any
/// [`Registry`](crate::metrics::Registry).
///
/// # Differences from Go
///
/// In client-go a provider makes the counters that a queue then updates. Here it receives a handle to read the queue from,
/// whenever it likes.
pub trait MetricsProvider: fmt::Debug + Send + Sync {
    /// A queue of this name was made.
    fn register(&self, name: &str, queue: QueueMetrics);
}

/// Reads the metrics of a queue without keeping it alive.
#[derive(Clone)]
pub struct QueueMetrics {
    queue: Weak<dyn Observed>,
}

impl QueueMetrics {
    pub(super) fn new(queue: &Arc<dyn Observed>) -> Self {
        Self { queue: Arc::downgrade(queue) }
    }

    /// The metrics at this moment; `None` once the queue is gone.
    pub fn stats(&self) -> Option<QueueStats> {
        self.queue.upgrade()?.stats()
    }

    fn is_alive(&self) -> bool {
        self.queue.strong_count() > 0
    }
}

impl fmt::Debug for QueueMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("QueueMetrics").field(&self.stats()).finish()
    }
}

/// A queue of any key in any world.
pub(super) trait Observed: Send + Sync {
    fn stats(&self) -> Option<QueueStats>;
}

impl<K: Clone + Eq + Hash + Send, R: Runtime> Observed for Shell<K, R> {
    fn stats(&self) -> Option<QueueStats> {
        Shell::stats(self)
    }
}

/// The process-wide registry.
pub(super) fn default_provider() -> Arc<dyn MetricsProvider> {
    Arc::new(crate::metrics::registry().clone())
}

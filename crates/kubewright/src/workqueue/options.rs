//! What a queue is made with, and how a key is added.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use super::{MetricsProvider, RateLimiter, default_rate_limiter};

/// What a [`Queue`](super::Queue) is made with.
///
/// Source: controller-runtime `priorityqueue.Opts`.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct QueueOptions<K> {
    /// The name in the metrics, usually the controller's. A queue with an empty name is not measured.
    pub name: String,

    /// Decides how long a key waits after [`add_rate_limited`](super::Queue::add_rate_limited).
    ///
    /// Default: [`default_rate_limiter`].
    pub rate_limiter: Box<dyn RateLimiter<K>>,

    /// How long a key may be ready before priorities have to give way to it; `None` means that they never do.
    ///
    /// Default: 60 s. A key that has been ready for half of this time is overdue. While there are overdue keys, every second
    /// hand-out goes to the one that has been ready longest among the first in line of each priority; the others go by priority. So
    /// a key is handed out within this time as long as the workers get through twice the number of overdue keys in the other half of
    /// it, and a backlog of old keys never takes more than half of the workers' turns from new ones.
    ///
    /// # Differences from Go
    ///
    /// There is no ageing in controller-runtime: keys of the initial list, at priority -100, wait as long as others keep
    /// coming (issue 3496).
    pub aging: Option<Duration>,

    /// Who exports the queue's metrics.
    ///
    /// Default: `None`, which means the process-wide [`metrics::registry`](crate::metrics::registry).
    pub metrics_provider: Option<Arc<dyn MetricsProvider>>,

    /// Gives the one spelling of a key, where several spellings name the same thing: each key that a caller hands in goes through it first.
    ///
    /// Default: `None`, the keys as they are. A controller of a cluster-scoped kind sets it, as its objects have no namespace.
    ///
    /// # Differences from Go
    ///
    /// There two spellings are two keys, and may be in two workers at once.
    pub canonical_key: Option<fn(K) -> K>,
}

impl<K: Clone + Eq + Hash + Send + fmt::Debug + 'static> QueueOptions<K> {
    /// The defaults, and a name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            rate_limiter: default_rate_limiter(),
            aging: Some(Duration::from_secs(60)),
            metrics_provider: None,
            canonical_key: None,
        }
    }

    /// Sets [`rate_limiter`](Self::rate_limiter).
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter<K> + 'static) -> Self {
        self.rate_limiter = Box::new(rate_limiter);
        self
    }

    /// Sets [`aging`](Self::aging); `None` switches it off.
    pub fn aging(mut self, aging: impl Into<Option<Duration>>) -> Self {
        self.aging = aging.into();
        self
    }

    /// Sets [`metrics_provider`](Self::metrics_provider).
    pub fn metrics_provider(mut self, provider: Arc<dyn MetricsProvider>) -> Self {
        self.metrics_provider = Some(provider);
        self
    }

    /// Sets [`canonical_key`](Self::canonical_key).
    pub fn canonical_key(mut self, canonical: fn(K) -> K) -> Self {
        self.canonical_key = Some(canonical);
        self
    }
}

impl<K: Clone + Eq + Hash + Send + fmt::Debug + 'static> Default for QueueOptions<K> {
    /// The defaults without a name, so that nothing is measured.
    fn default() -> Self {
        Self::new("")
    }
}

/// How keys are added by [`Queue::add_with`](super::Queue::add_with).
///
/// Source: controller-runtime `priorityqueue.AddOpts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct AddOptions {
    /// How long a key waits before it becomes ready.
    ///
    /// Default: zero, at once. Any duration is accepted; what lies beyond the end of time never becomes ready.
    pub after: Duration,

    /// Whether the rate limiter counts a failure and says how long the key waits.
    ///
    /// Default: `false`. Together with `after`, the shorter of both delays counts, and an `after` of zero is none.
    ///
    /// # Differences from Go
    ///
    /// At most one failure is counted from one hand-out of a key to the next: while a key is queued because of a rate-limited
    /// add, be it waiting or already ready, another one leaves the failure count and the time of the retry alone. It
    /// cannot have failed again, since nobody has tried it. In Go each call doubles the delay of the next failure.
    pub rate_limited: bool,

    /// Higher numbers are handed out sooner.
    ///
    /// Default: 0. A key that is queued already keeps the higher of both priorities; if that raises it, it joins the end of its
    /// new priority's line.
    pub priority: i32,
}

impl AddOptions {
    /// The defaults: at once, not rate limited, priority 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the key becomes ready at once, whatever the rate limiter says.
    #[inline]
    pub(super) fn is_immediate(&self) -> bool {
        self.after.is_zero() && !self.rate_limited
    }

    /// Sets [`after`](Self::after).
    pub fn after(mut self, after: Duration) -> Self {
        self.after = after;
        self
    }

    /// Sets [`rate_limited`](Self::rate_limited) to `true`.
    pub fn rate_limited(mut self) -> Self {
        self.rate_limited = true;
        self
    }

    /// Sets [`priority`](Self::priority).
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}

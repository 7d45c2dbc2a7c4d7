//! When to look at the same request again.

use std::time::Duration;

/// What a successful reconcile asks for.
///
/// # Differences from Go
/// This is `reconcile.Result`, under the name that kube-rs gave it. There is no deprecated `Requeue: true`: return an error to be
/// retried with backoff, or ask for a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Action {
    requeue_after: Option<Duration>,
    priority: Option<i32>,
}

impl Action {
    /// Nothing to do until something changes.
    pub fn await_change() -> Self {
        Self::default()
    }

    /// Looks again after `after`, or when something changes, whichever comes first. Zero means at once.
    pub fn requeue(after: Duration) -> Self {
        Self { requeue_after: Some(after), priority: None }
    }

    /// The priority of the requeued request; without it the request keeps the one with which it was handed out. Higher runs sooner.
    pub fn with_priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// The wait that was asked for.
    pub fn requeue_after(&self) -> Option<Duration> {
        self.requeue_after
    }

    /// The priority that was asked for.
    pub fn priority(&self) -> Option<i32> {
        self.priority
    }
}

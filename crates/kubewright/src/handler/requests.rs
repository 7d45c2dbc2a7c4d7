//! Where handlers put requests.

use std::{fmt, time::Duration};

use crate::{
    reconcile::RequestType,
    workqueue::{AddOptions, Queue},
};

/// The priority of requests that come from the initial list or from a resync, below the ordinary 0: a change that somebody has just made
/// is reconciled before the thousand objects that merely exist.
///
/// Source: controller-runtime `handler.LowPriority`.
pub const LOW_PRIORITY: i32 = -100;

/// The queue, as the handler of one event sees it: what is added without a priority gets the one that fits the event.
///
/// Source: controller-runtime `handler.WithLowPriorityWhenUnchanged`, which every handler has here.
pub struct Requests<'a, R: RequestType> {
    queue: &'a Queue<R>,
    priority: i32,
}

impl<'a, R: RequestType> Requests<'a, R> {
    /// The requests of an event; `unchanged` events get [`LOW_PRIORITY`].
    pub fn new(queue: &'a Queue<R>, unchanged: bool) -> Self {
        Self { queue, priority: if unchanged { LOW_PRIORITY } else { 0 } }
    }

    /// Enqueues `request` at once.
    pub fn add(&self, request: R) {
        self.add_with(self.options(), [request]);
    }

    /// Enqueues `request` after a wait.
    pub fn add_after(&self, request: R, after: Duration) {
        self.add_with(self.options().after(after), [request]);
    }

    /// Enqueues `request` when the rate limiter allows.
    pub fn add_rate_limited(&self, request: R) {
        self.add_with(self.options().rate_limited(), [request]);
    }

    /// Enqueues `requests` exactly as `options` say, with their priority; start from [`options`](Self::options) to keep the one that fits
    /// the event.
    pub fn add_with(&self, options: AddOptions, requests: impl IntoIterator<Item = R>) {
        self.queue.add_with(options, requests);
    }

    /// Options with the priority that fits the event.
    pub fn options(&self) -> AddOptions {
        AddOptions::new().priority(self.priority)
    }

    pub(super) fn add_all(&self, requests: impl IntoIterator<Item = R>) {
        self.add_with(self.options(), requests);
    }
}

impl<R: RequestType> fmt::Debug for Requests<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests").field("priority", &self.priority).finish_non_exhaustive()
    }
}

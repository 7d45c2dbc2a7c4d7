//! Where handlers put requests.

use std::{fmt, time::Duration};

use parking_lot::Mutex;

use crate::{
    BoxError,
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
    failure: Mutex<Option<BoxError>>,
}

impl<'a, R: RequestType> Requests<'a, R> {
    /// The requests of an event; `unchanged` events get [`LOW_PRIORITY`].
    pub fn new(queue: &'a Queue<R>, unchanged: bool) -> Self {
        Self { queue, priority: if unchanged { LOW_PRIORITY } else { 0 }, failure: Mutex::new(None) }
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

    /// Says that the event could not be handled. It comes to the handler again, after 5 ms and then twice as long each time, up to 1000 s, until it
    /// succeeds; the events of other objects go on meanwhile, and those of its own object wait behind it. What has been added is enqueued all the
    /// same. Each failure is logged and counted (`kubewright_source_event_failures_total`).
    ///
    /// # Differences from Go
    /// There a handler that fails can only lose its event.
    pub fn fail(&self, error: impl Into<BoxError>) {
        self.failure.lock().get_or_insert(error.into());
    }

    /// Options with the priority that fits the event.
    pub fn options(&self) -> AddOptions {
        AddOptions::new().priority(self.priority)
    }

    pub(crate) fn into_failure(self) -> Option<BoxError> {
        self.failure.into_inner()
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

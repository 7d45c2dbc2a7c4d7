//! Brings events to a handler, and again when that fails.

use std::{borrow::Cow, panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt as _;
use tokio::time::{Instant, sleep_until};

use super::{SourceContext, waiting::Waiting};
use crate::{
    BoxError, error,
    event::{AnyObject, Event},
    handler::{DynEventHandler, Requests},
    predicate::Predicate,
    reconcile::RequestType,
    workqueue::Queue,
};

/// Filters, predicates and the handler of one source, and the events that they could not handle.
///
/// An event whose handler fails or panics is handled again with backoff, until it succeeds or the controller stops. Meanwhile the events of other
/// objects go on, and those of its own object wait behind it.
pub(super) struct Delivery<V, R: RequestType> {
    pub(super) source: Cow<'static, str>,
    pub(super) filters: Vec<Arc<dyn Predicate<AnyObject>>>,
    pub(super) predicates: Vec<Box<dyn Predicate<V>>>,
    pub(super) handler: Box<dyn DynEventHandler<V, R>>,
    pub(super) queue: Queue<R>,
    pub(super) context: SourceContext,
    pub(super) waiting: Waiting<V>,
}

/// Why an event could not be handled.
pub(super) enum Failure {
    Failed(BoxError),
    Panicked(String),
}

/// Does `work`, which is the author's code. A panic ends nothing else: what it leaves behind is its author's affair, as with a mutex.
pub(super) async fn guarded(work: impl Future<Output = Result<(), BoxError>>) -> Result<(), Failure> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(done) => done.map_err(Failure::Failed),
        Err(panic) => Err(Failure::Panicked(error::panic_message(&*panic))),
    }
}

impl<V: Send + Sync + 'static, R: RequestType> Delivery<V, R> {
    /// Brings `event` to the handler, unless an earlier one of the same object waits for its next try.
    pub(super) async fn deliver(&mut self, event: Event<V>) {
        if let Some(event) = self.waiting.line_up(event) {
            self.attempt(event).await;
        }
    }

    /// Returns when an event is due again; pending while there is none.
    ///
    /// # Cancel safety
    /// Only waits.
    pub(super) async fn due(&self) {
        match self.waiting.next_due() {
            Some(due) => sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    /// Whether events wait for another try.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.next_due().is_some()
    }

    /// Whether so many objects have failed that no more should come. A kind has an end by itself; a channel has none.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.objects() >= MANY_OBJECTS
    }

    /// Brings the event that is due to the handler once more.
    pub(super) async fn retry(&mut self) {
        if let Some(event) = self.waiting.take_due(Instant::now()) {
            let key = event.object().key().clone();
            if self.attempt(event).await {
                self.waiting.succeeded(&key, Instant::now());
            }
        }
    }

    /// Whether it went well; otherwise the event waits for its next try.
    async fn attempt(&mut self, event: Event<V>) -> bool {
        self.context.works_on(event.object().key());
        let Err(failure) = self.handle(&event).await else { return true };
        let object = event.object().key().clone();
        let retry_in = self.waiting.failed(event, Instant::now());
        let source = &*self.source;
        match failure {
            Failure::Failed(error) => {
                self.context.count_failure(source, "error");
                let error = error::chain(error.as_ref());
                tracing::warn!(source, %object, error, ?retry_in, "failed to handle an event");
            }
            Failure::Panicked(message) => {
                self.context.count_failure(source, "panic");
                tracing::error!(source, %object, message, ?retry_in, "the handler of an event panicked");
            }
        }
        false
    }

    async fn handle(&self, event: &Event<V>) -> Result<(), Failure> {
        guarded(async {
            let requests = Requests::new(&self.queue, event.is_unchanged());
            if self.passes(event) {
                self.handler.handle(event, &requests).await;
            }
            requests.into_failure().map_or(Ok(()), Err)
        })
        .await
    }

    fn passes(&self, event: &Event<V>) -> bool {
        let passes_filters = self.filters.is_empty() || {
            let event = event.any();
            self.filters.iter().all(|filter| filter.judge(&event).passes())
        };
        passes_filters && self.predicates.iter().all(|predicate| predicate.judge(event).passes())
    }
}

/// Far more than fail at once for reasons of their own: behind these is a reason that they share.
const MANY_OBJECTS: usize = 1024;

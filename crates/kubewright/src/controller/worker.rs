//! Reconciles one request after the other.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::{
    LogConstructor,
    hot_loop::HotLoops,
    metrics::ControllerMetrics,
    outcome::{Outcome, Requeue},
};
use crate::{
    client, error,
    reconcile::RequestType,
    reconcile::{Context, DynReconciler},
    workqueue::{AddOptions, Queue},
};

/// What the workers of a controller share.
pub(super) struct Crew<R: RequestType> {
    pub(super) controller: Arc<str>,
    pub(super) reconciler: Arc<dyn DynReconciler<R>>,
    pub(super) log_constructor: LogConstructor<R>,
    pub(super) reconciliation_timeout: Option<Duration>,
    pub(super) recover_panic: bool,
    pub(super) cancel: CancellationToken,
    pub(super) metrics: ControllerMetrics,
    pub(super) hot_loops: Mutex<HotLoops<R>>,
}

impl<R: RequestType> Crew<R> {
    /// One worker: works until the queue is shut down.
    pub(super) async fn work(self: Arc<Self>, queue: Queue<R>) {
        while let Some((request, priority)) = queue.get().await {
            if let Some(pause) = self.pause(&request) {
                queue.add_with(AddOptions::new().after(pause).priority(priority), [request.clone()]);
                queue.done(&request);
                continue;
            }
            let (outcome, span) = self.reconcile(&request).await;
            let verdict = outcome.verdict();
            let options = AddOptions::new().priority(outcome.priority().unwrap_or(priority));
            if verdict.forget {
                queue.forget(&request);
            }
            match verdict.requeue {
                Requeue::No => {}
                Requeue::RateLimited => queue.add_with(options.rate_limited(), [request.clone()]),
                Requeue::After(after) => queue.add_with(options.after(after), [request.clone()]),
            }
            span.in_scope(|| outcome.log(queue.comes_again_in(&request)));
            queue.done(&request);
        }
    }

    /// How long the request is held back because it wakes itself in vain. Whatever else asks for it waits as long.
    fn pause(&self, request: &R) -> Option<Duration> {
        self.hot_loops.lock().pause(request, Instant::now())
    }

    /// How a reconcile ended, and the span of its log lines.
    async fn reconcile(&self, request: &R) -> (Outcome, Span) {
        let deadline = self.reconciliation_timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let context = Context::new(self.cancel.clone(), deadline);
        let span = (self.log_constructor)(&self.controller, request, context.reconcile_id());
        let context = context.with_span(span.clone());
        let outcome = async {
            let _working = self.metrics.working();
            let started = Instant::now();
            let (outcome, writes) =
                client::observe_writes(self.call(context, request.clone(), deadline)).await;
            let ended = Instant::now();
            self.metrics.observe(&outcome, ended - started);
            let hot_loop = self.hot_loops.lock().observe(request, &writes, ended);
            if let Some(hot_loop) = hot_loop {
                hot_loop.log(writes.lacking.as_deref());
            }
            outcome
        };
        let outcome = outcome.instrument(span.clone()).await;
        (outcome, span)
    }

    async fn call(&self, context: Context, request: R, deadline: Option<Instant>) -> Outcome {
        // The reconciler is shared by all workers anyway: what a panic leaves behind in it is the author's affair, as with a mutex.
        let guarded = AssertUnwindSafe(self.reconciler.reconcile(context, request)).catch_unwind();
        let ended = match (deadline, self.reconciliation_timeout) {
            (Some(deadline), Some(timeout)) => match timeout_at(deadline, guarded).await {
                Ok(ended) => ended,
                Err(_) => return Outcome::TimedOut(timeout),
            },
            _ => guarded.await,
        };
        match ended {
            Ok(Ok(action)) => Outcome::Done(action),
            Ok(Err(error)) => Outcome::Failed(error),
            Err(panic) if self.recover_panic => Outcome::Panicked(error::panic_message(&*panic)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

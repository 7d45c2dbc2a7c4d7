//! Tasks that start and stop together.

use std::{borrow::Cow, collections::HashMap};

use futures::FutureExt;
use tokio::{
    sync::mpsc,
    task::{Id, JoinError, JoinSet},
    time::{Instant, timeout_at},
};
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};
use tracing::Instrument;

use super::{BoxedRunnable, StartError, ending::Ending};
use crate::{
    BoxError,
    cache::CacheError,
    controller::{Report, Running},
    error,
};

/// The runnables of one group, and the owner of their tasks.
#[derive(Debug)]
pub(super) struct Tasks {
    cancel: CancellationToken,
    /// Counts those that are not ready yet.
    getting_ready: TaskTracker,
    running: JoinSet<Result<(), BoxError>>,
    names: HashMap<Id, Cow<'static, str>>,
    /// What runnables report before they end: one message each, so the channel needs no bound.
    reports: mpsc::UnboundedReceiver<StartError>,
    reporter: mpsc::UnboundedSender<StartError>,
}

impl Tasks {
    pub(super) fn new() -> Self {
        let (reporter, reports) = mpsc::unbounded_channel();
        let getting_ready = TaskTracker::new();
        getting_ready.close();
        Self {
            cancel: CancellationToken::new(),
            getting_ready,
            running: JoinSet::new(),
            names: HashMap::new(),
            reports,
            reporter,
        }
    }

    pub(super) fn start(&mut self, runnable: BoxedRunnable) {
        let BoxedRunnable { name, mut ready, start, .. } = runnable;
        let running = start(self.cancel.child_token(), self.report(name.clone()));
        // The span in which the manager was started is the parent of all that it runs.
        let task = match (&mut ready).now_or_never() {
            // Nearly all are ready at once, however long their first step takes.
            Some(Ok(())) => self.running.spawn(running.in_current_span()),
            Some(Err(failure)) => return self.report(name.clone())(failure),
            None => {
                let task = run(running, ready, self.report(name.clone()), self.getting_ready.token());
                self.running.spawn(task.in_current_span())
            }
        };
        self.names.insert(task.id(), name);
    }

    /// Takes a failure when it happens.
    fn report(&self, name: Cow<'static, str>) -> Report {
        let reporter = self.reporter.clone();
        // Nobody listens to what fails after the stop has been joined.
        Box::new(move |source| drop(reporter.send(failed(name, source))))
    }

    /// Is done when all that were started are ready, or have ended.
    pub(super) fn ready(&self) -> impl Future<Output = ()> + use<> {
        let getting_ready = self.getting_ready.clone();
        async move { getting_ready.wait().await }
    }

    /// The next failure; pending while there is none.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub(super) async fn failed(&mut self) -> StartError {
        loop {
            tokio::select! {
                Some(failure) = self.reports.recv() => return failure,
                Some(ended) = self.running.join_next_with_id() => {
                    if let Err(failure) = self.outcome(ended) {
                        return failure;
                    }
                }
            }
        }
    }

    /// Asks all to stop.
    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Asks for no more patience: all are dropped at their next await point.
    pub(super) fn abort(&mut self) {
        self.running.abort_all();
    }

    /// Waits for all that were asked to stop. At the deadline, what is left is aborted and waited for.
    ///
    /// # Cancel safety
    /// Called again, it goes on.
    pub(super) async fn join(&mut self, deadline: Option<Instant>, ending: &mut Ending) {
        let mut deadline = deadline;
        while !self.running.is_empty() {
            let next = self.running.join_next_with_id();
            let ended = match deadline {
                Some(deadline) => timeout_at(deadline, next).await,
                None => Ok(next.await),
            };
            match ended {
                Ok(Some(ended)) => ending.note(self.outcome(ended)),
                Ok(None) => {}
                Err(_) => {
                    ending.late(self.names.values().cloned());
                    self.abort();
                    deadline = None;
                }
            }
        }
        while let Ok(failure) = self.reports.try_recv() {
            ending.note(Err(failure));
        }
    }

    fn outcome(&mut self, ended: Result<(Id, Result<(), BoxError>), JoinError>) -> Result<(), StartError> {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let name = self.names.remove(&id).unwrap_or("a runnable".into());
        match ended {
            Ok((_, Ok(()))) => Ok(()),
            Ok((_, Err(source))) => Err(failed(name, source)),
            // Whoever is aborted has been called late.
            Err(ended) if ended.is_cancelled() => Ok(()),
            Err(ended) => Err(StartError::Panicked { name, message: error::join_message(ended) }),
        }
    }
}

/// Runs to the end, and counts as `getting_ready` until it is ready or has ended.
async fn run(
    running: Running,
    ready: Running,
    report: Report,
    getting_ready: TaskTrackerToken,
) -> Result<(), BoxError> {
    let running = match run_until_ready(running, ready).await {
        Ok(running) => running,
        Err(failure) => {
            // Told before the token is dropped, so that the next group does not start.
            report(failure);
            None
        }
    };
    drop(getting_ready);
    match running {
        Some(running) => running.await,
        None => Ok(()),
    }
}

/// Runs until `ready` is done. `None` if nothing is left to run.
async fn run_until_ready(mut running: Running, ready: Running) -> Result<Option<Running>, BoxError> {
    tokio::select! {
        // Whoever has failed says why; its readiness would only say that nothing came.
        biased;
        ended = &mut running => ended.map(|()| None),
        ready = ready => ready.map(|()| Some(running)),
    }
}

fn failed(name: Cow<'static, str>, source: BoxError) -> StartError {
    match source.downcast::<CacheError>() {
        Ok(error) => StartError::Cache(*error),
        Err(source) => StartError::Runnable { name, source },
    }
}

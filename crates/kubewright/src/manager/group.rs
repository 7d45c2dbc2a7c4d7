//! Tasks that start and stop together.

use std::{borrow::Cow, collections::HashMap};

use tokio::{
    sync::mpsc,
    task::{Id, JoinError, JoinSet},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{BoxedRunnable, StartError, ending::Ending};
use crate::{BoxError, cache::CacheError, error};

/// Runnables of one place, and the owner of their tasks.
#[derive(Debug)]
pub(super) struct Group {
    cancel: CancellationToken,
    tasks: JoinSet<Result<(), BoxError>>,
    names: HashMap<Id, Cow<'static, str>>,
    /// What runnables report before they end: one message each, so the channel needs no bound.
    reports: mpsc::UnboundedReceiver<StartError>,
    reporter: mpsc::UnboundedSender<StartError>,
}

impl Group {
    pub(super) fn new() -> Self {
        let (reporter, reports) = mpsc::unbounded_channel();
        Self {
            cancel: CancellationToken::new(),
            tasks: JoinSet::new(),
            names: HashMap::new(),
            reports,
            reporter,
        }
    }

    pub(super) fn start(&mut self, runnable: BoxedRunnable) {
        let (name, reporter) = (runnable.name.clone(), self.reporter.clone());
        // Nobody listens to what fails after the stop has been joined.
        let report = Box::new(move |source| drop(reporter.send(failed(name, source))));
        let task = self.tasks.spawn((runnable.start)(self.cancel.child_token(), report));
        self.names.insert(task.id(), runnable.name);
    }

    /// The next failure; pending while there is none.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub(super) async fn failed(&mut self) -> StartError {
        loop {
            tokio::select! {
                Some(failure) = self.reports.recv() => return failure,
                Some(ended) = self.tasks.join_next_with_id() => {
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
        self.tasks.abort_all();
    }

    /// Waits for all that were asked to stop. At the deadline, what is left is aborted and waited for.
    ///
    /// # Cancel safety
    /// Called again, it goes on.
    pub(super) async fn join(&mut self, deadline: Option<Instant>, ending: &mut Ending) {
        let mut deadline = deadline;
        while !self.tasks.is_empty() {
            let next = self.tasks.join_next_with_id();
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

fn failed(name: Cow<'static, str>, source: BoxError) -> StartError {
    match source.downcast::<CacheError>() {
        Ok(error) => StartError::Cache(*error),
        Err(source) => StartError::Runnable { name, source },
    }
}

//! The tasks of a controller, and their owner.

use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
};
use tokio_util::task::TaskTracker;

use super::ControllerError;
use crate::{
    error,
    source::{SourceFailure, Spawned},
};

/// The tasks of a controller: those of its sources, and its workers. Dropped, it aborts them.
pub(super) struct Tasks {
    running: JoinSet<Result<(), SourceFailure>>,
    /// Tells the controller's host when the last of them has ended, also if they were aborted and nobody joins them here.
    tracker: TaskTracker,
    to_spawn: mpsc::UnboundedReceiver<Spawned>,
    spawner: mpsc::UnboundedSender<Spawned>,
}

impl Tasks {
    pub(super) fn new(tracker: TaskTracker) -> Self {
        let (spawner, to_spawn) = mpsc::unbounded_channel();
        Self { running: JoinSet::new(), tracker, to_spawn, spawner }
    }

    /// Where tasks can be handed in while [`supervise`](Self::supervise) runs.
    pub(super) fn spawner(&self) -> mpsc::UnboundedSender<Spawned> {
        self.spawner.clone()
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.adopt(async move {
            task.await;
            Ok(())
        });
    }

    fn adopt(&mut self, task: impl Future<Output = Result<(), SourceFailure>> + Send + 'static) {
        self.running.spawn(self.tracker.track_future(task));
    }

    /// Runs `until`, and the tasks beside it. A task that panics ends it.
    pub(super) async fn supervise<T>(
        &mut self,
        until: impl Future<Output = T>,
    ) -> Result<T, ControllerError> {
        tokio::pin!(until);
        loop {
            tokio::select! {
                // In this order, a panic is reported even when it is what `until` was waiting for.
                biased;
                Some(ended) = self.running.join_next() => outcome(ended)?,
                Some(task) = self.to_spawn.recv() => self.adopt(task),
                done = &mut until => return Ok(done),
            }
        }
    }

    /// Waits for the tasks that are left. Gives the first failure; others are logged.
    pub(super) async fn join(mut self) -> Result<(), ControllerError> {
        let mut result = Ok(());
        while let Some(ended) = self.running.join_next().await {
            match outcome(ended) {
                Err(error) if result.is_err() => tracing::error!(%error, "another task failed as well"),
                ended => result = result.and(ended),
            }
        }
        result
    }
}

fn outcome(ended: Result<Result<(), SourceFailure>, JoinError>) -> Result<(), ControllerError> {
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(SourceFailure { name, error: source })) => Err(ControllerError::SourceFailed { name, source }),
        Err(ended) => Err(ControllerError::Panicked(error::join_message(ended))),
    }
}

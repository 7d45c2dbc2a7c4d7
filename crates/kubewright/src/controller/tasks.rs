//! The tasks of a controller, and their owner.

use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
};

use super::{ControllerError, worker::panic_message};
use crate::source::Spawned;

/// The tasks of a controller: those of its sources, and its workers. Dropped, it aborts them.
pub(super) struct Tasks {
    running: JoinSet<()>,
    to_spawn: mpsc::UnboundedReceiver<Spawned>,
    spawner: mpsc::UnboundedSender<Spawned>,
}

impl Tasks {
    pub(super) fn new() -> Self {
        let (spawner, to_spawn) = mpsc::unbounded_channel();
        Self { running: JoinSet::new(), to_spawn, spawner }
    }

    /// Where tasks can be handed in while [`supervise`](Self::supervise) runs.
    pub(super) fn spawner(&self) -> mpsc::UnboundedSender<Spawned> {
        self.spawner.clone()
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.running.spawn(task);
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
                Some(ended) = self.running.join_next() => ended.map_err(panicked)?,
                Some(task) = self.to_spawn.recv() => self.spawn(task),
                done = &mut until => return Ok(done),
            }
        }
    }

    /// Waits for the tasks that are left.
    pub(super) async fn join(mut self) -> Result<(), ControllerError> {
        let mut result = Ok(());
        while let Some(ended) = self.running.join_next().await {
            result = result.and(ended.map_err(panicked));
        }
        result
    }
}

fn panicked(error: JoinError) -> ControllerError {
    let message = match error.try_into_panic() {
        Ok(panic) => panic_message(&*panic),
        Err(aborted) => aborted.to_string(),
    };
    ControllerError::Panicked(message)
}

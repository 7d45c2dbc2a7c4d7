//! A manager that runs beside the test.

use kubewright::manager::{Manager, StartError};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A running manager. Dropped, it is aborted; [`stop`](Self::stop) lets it end in order and shows what it says.
#[derive(Debug)]
#[must_use = "a manager stops when this is dropped"]
pub struct RunningManager {
    stop: DropGuard,
    task: AbortOnDrop,
    manager: Manager,
}

#[derive(Debug)]
struct AbortOnDrop(JoinHandle<Result<(), StartError>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl RunningManager {
    pub(crate) fn start(manager: Manager) -> Self {
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        #[expect(
            clippy::disallowed_methods,
            reason = "the handle owns the task: it is joined by `stop`, or aborted when dropped"
        )]
        let task = tokio::spawn(manager.clone().start(stopped));
        Self { stop: stop.drop_guard(), task: AbortOnDrop(task), manager }
    }

    /// Waits until the manager runs its controllers; from then on its client can read.
    pub async fn elected(&self) {
        self.manager.elected().await;
    }

    /// Stops the manager and waits until everything that it ran has ended.
    ///
    /// # Errors
    /// What the manager's `start` returns.
    ///
    /// # Panics
    /// If the manager itself panicked.
    pub async fn stop(mut self) -> Result<(), StartError> {
        drop(self.stop);
        joined((&mut self.task.0).await)
    }

    /// Waits until the manager ends by itself, because something failed.
    ///
    /// # Panics
    /// If the manager itself panicked.
    pub async fn ended(mut self) -> Result<(), StartError> {
        joined((&mut self.task.0).await)
    }
}

fn joined(result: Result<Result<(), StartError>, JoinError>) -> Result<(), StartError> {
    result.unwrap_or_else(|error| panic!("the manager's task did not end well: {error}"))
}

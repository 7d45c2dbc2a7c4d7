//! A manager that runs beside the test.

use kubewright::manager::{Manager, StartError};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::failures::{Failures, Ticket};

/// A running manager. Dropped, it is aborted; [`stop`](Self::stop) lets it end in order and shows what it says.
///
/// A manager that ends by itself ends every wait of its [`TestEnv`](crate::TestEnv) with what it says, until [`stop`](Self::stop) or
/// [`ended`](Self::ended) has given that to the test.
#[derive(Debug)]
#[must_use = "a manager stops when this is dropped"]
pub struct RunningManager {
    stop: DropGuard,
    task: AbortOnDrop,
    manager: Manager,
    failures: Failures,
    ticket: Ticket,
}

#[derive(Debug)]
struct AbortOnDrop(JoinHandle<Result<(), StartError>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl RunningManager {
    pub(crate) fn start(manager: Manager, failures: &Failures) -> Self {
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let ticket = failures.ticket();
        let (runs, failures_of_env) = (manager.clone(), failures.clone());
        #[expect(
            clippy::disallowed_methods,
            reason = "the handle owns the task: it is joined by `stop`, or aborted when dropped"
        )]
        let task = tokio::spawn(async move {
            let result = runs.start(stopped).await;
            if let Err(error) = &result {
                failures_of_env.report(ticket, error);
            }
            result
        });
        Self { stop: stop.drop_guard(), task: AbortOnDrop(task), manager, failures: failures.clone(), ticket }
    }

    /// Waits until the manager runs its controllers; from then on its client can read.
    ///
    /// # Panics
    /// If a manager of the environment fails before that.
    #[track_caller]
    pub fn elected(&self) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            tokio::select! {
                // One that was elected and has failed since then was elected.
                biased;
                () = self.manager.elected() => {}
                failure = self.failures.any() => panic!("{caller}: a manager failed before it was elected: {failure}"),
            }
        }
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
        let result = joined((&mut self.task.0).await);
        self.failures.forget(self.ticket);
        result
    }

    /// Waits until the manager ends by itself, because something failed.
    ///
    /// # Panics
    /// If the manager itself panicked.
    pub async fn ended(mut self) -> Result<(), StartError> {
        let result = joined((&mut self.task.0).await);
        self.failures.forget(self.ticket);
        result
    }
}

fn joined(result: Result<Result<(), StartError>, JoinError>) -> Result<(), StartError> {
    result.unwrap_or_else(|error| panic!("the manager's task did not end well: {error}"))
}

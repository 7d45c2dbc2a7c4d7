//! Start, run, stop.

use std::borrow::Cow;

use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{BoxedRunnable, Manager, Phase, StartError};
use crate::{cache::CacheError, reconcile::BoxError};

impl Manager {
    /// Runs until `shutdown` is done, or something fails.
    ///
    /// Order of the start: the cache, which has to sync the kinds that are known by then; then controllers and other runnables, all at once.
    /// What is added later starts at once. Order of the stop: runnables, which get the grace period to end, and are aborted after it; then
    /// the cache, so that a reconcile that finishes its work can still read.
    ///
    /// # Errors
    /// The first failure; [`StartError::GracePeriod`] if there was none but something did not stop in time.
    ///
    /// # Cancel safety
    /// Dropped, it aborts everything that it runs.
    pub async fn start(self, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
        let (start, added) = mpsc::unbounded_channel();
        let waiting = {
            let mut state = self.shared.state.lock();
            match std::mem::replace(&mut state.phase, Phase::Running(start)) {
                Phase::Fresh(waiting) => waiting,
                earlier => {
                    state.phase = earlier;
                    return Err(StartError::AlreadyStarted);
                }
            }
        };
        let mut caches = Group::default();
        let mut runnables = Group::default();
        let result = self.run(shutdown, waiting, added, &mut caches, &mut runnables).await;

        self.shared.state.lock().phase = Phase::Stopped;
        tracing::info!("stopping");
        let grace = self.shared.graceful_shutdown_timeout;
        // One grace period for everything; what lies beyond the end of time never comes.
        let deadline = Instant::now().checked_add(grace);
        let stopped_in_time = runnables.stop(deadline).await;
        let stopped_in_time = stopped_in_time.and(caches.stop(deadline).await);
        let stopped = match stopped_in_time {
            Err(Late::Failed(error)) => Err(error),
            // Zero means: do not wait.
            Err(Late::Aborted) if !grace.is_zero() => Err(StartError::GracePeriod(grace)),
            _ => Ok(()),
        };
        result.and(stopped)
    }

    async fn run(
        &self,
        shutdown: impl Future<Output = ()>,
        waiting: Vec<BoxedRunnable>,
        mut added: mpsc::UnboundedReceiver<BoxedRunnable>,
        caches: &mut Group,
        runnables: &mut Group,
    ) -> Result<(), StartError> {
        let cache = self.shared.cache.clone();
        caches.start("cache".into(), |cancel| async move { Ok(cache.start(cancel).await?) });
        tokio::pin!(shutdown);
        tokio::select! {
            () = &mut shutdown => return Ok(()),
            failed = caches.failed() => return Err(failed),
            synced = self.shared.cache.wait_for_cache_sync() => synced?,
        }
        for runnable in waiting {
            runnables.start(runnable.name, runnable.start);
        }
        self.shared.elected.cancel();
        loop {
            tokio::select! {
                () = &mut shutdown => return Ok(()),
                failed = caches.failed() => return Err(failed),
                failed = runnables.failed() => return Err(failed),
                Some(runnable) = added.recv() => runnables.start(runnable.name, runnable.start),
            }
        }
    }
}

/// Tasks that start and stop together.
#[derive(Debug, Default)]
struct Group {
    cancel: CancellationToken,
    tasks: JoinSet<(Cow<'static, str>, Result<(), BoxError>)>,
}

impl Group {
    fn start<F>(&mut self, name: Cow<'static, str>, start: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        let running = start(self.cancel.child_token());
        self.tasks.spawn(async move { (name, running.await) });
    }

    /// The next failure; pending while there is none.
    async fn failed(&mut self) -> StartError {
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(failed) = outcome(ended) {
                return failed;
            }
        }
        std::future::pending().await
    }

    /// Asks all to stop and waits for them; aborts what is left at the deadline. Gives the first failure.
    async fn stop(mut self, deadline: Option<Instant>) -> Result<(), Late> {
        self.cancel.cancel();
        let mut result = Ok(());
        while !self.tasks.is_empty() {
            let ended = match deadline {
                Some(deadline) => timeout_at(deadline, self.tasks.join_next()).await,
                None => Ok(self.tasks.join_next().await),
            };
            let Ok(ended) = ended else {
                self.tasks.shutdown().await;
                return result.and(Err(Late::Aborted));
            };
            if let Some(Err(error)) = ended.map(outcome) {
                if result.is_err() {
                    tracing::warn!(%error, "error received after stop sequence was engaged");
                } else {
                    result = Err(Late::Failed(error));
                }
            }
        }
        result
    }
}

/// How a stop went wrong.
enum Late {
    Failed(StartError),
    Aborted,
}

fn outcome(ended: Result<(Cow<'static, str>, Result<(), BoxError>), JoinError>) -> Result<(), StartError> {
    match ended {
        Ok((_, Ok(()))) => Ok(()),
        Ok((name, Err(source))) => match source.downcast::<CacheError>() {
            Ok(error) => Err(StartError::Cache(*error)),
            Err(source) => Err(StartError::Runnable { name, source }),
        },
        Err(error) => Err(StartError::Runnable { name: "a runnable".into(), source: error.into() }),
    }
}

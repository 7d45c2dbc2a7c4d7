//! Start, run, stop.

use std::{borrow::Cow, time::Duration};

use futures::future::try_join_all;
use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{BoxedRunnable, Manager, Phase, Place, StartError};
use crate::{
    BoxError,
    cache::{Cache, CacheError},
    leader_election::DynElector,
};

impl Manager {
    /// Runs until `shutdown` is done, or something fails.
    ///
    /// Order of the start: the cache, which has to sync the kinds that are known by then; what does not need leader election; and, once this
    /// process leads, controllers and everything else. What is added later starts at once if its turn has come.
    ///
    /// Order of the stop: what does not need leader election, then what does, then the cache, so that a reconcile that finishes its work can still
    /// read; then the leadership is given up. All of them share the grace period, and what is left at its end is aborted. After a lost leadership there is
    /// no grace: another process may be at work.
    ///
    /// # Errors
    /// The first failure; [`StartError::GracePeriod`] if there was none but something did not stop in time.
    ///
    /// # Cancel safety
    /// Dropped, it aborts everything that it runs.
    pub async fn start(self, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
        let (start, added) = mpsc::unbounded_channel();
        let (caches, waiting, elector) = {
            let mut state = self.shared.state.lock();
            match std::mem::replace(&mut state.phase, Phase::Running(start)) {
                Phase::Fresh { caches, waiting, elector } => (caches, waiting, elector),
                earlier => {
                    state.phase = earlier;
                    return Err(StartError::AlreadyStarted);
                }
            }
        };
        let elected = self.shared.elected.clone();
        let mut life = Life { groups: Groups::default(), added, elector, elected, is_leader: false };
        let result = life.run(shutdown, caches, waiting).await;

        self.shared.state.lock().phase = Phase::Stopped;
        life.stop(result, self.shared.graceful_shutdown_timeout).await
    }
}

/// A manager between its start and its stop.
struct Life {
    groups: Groups,
    added: mpsc::UnboundedReceiver<BoxedRunnable>,
    elector: Box<dyn DynElector>,
    /// Fires when `is_leader` becomes true and everything has been started.
    elected: CancellationToken,
    is_leader: bool,
}

impl Life {
    async fn run(
        &mut self,
        shutdown: impl Future<Output = ()>,
        caches: Vec<Cache>,
        waiting: Vec<BoxedRunnable>,
    ) -> Result<(), StartError> {
        let Self { groups, added, elector, elected, is_leader } = self;
        tokio::pin!(shutdown);
        for cache in &caches {
            groups.start(BoxedRunnable::of_cache(cache.clone()));
        }
        tokio::select! {
            () = &mut shutdown => return Ok(()),
            failed = groups.failed() => return Err(failed),
            synced = try_join_all(caches.iter().map(Cache::wait_for_cache_sync)) => drop(synced?),
        }

        let (mut leader_only, others): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|runnable| runnable.place == Place::LeaderOnly);
        groups.start_all(others);
        {
            let acquired = elector.acquire();
            tokio::pin!(acquired);
            loop {
                tokio::select! {
                    () = &mut shutdown => return Ok(()),
                    failed = groups.failed() => return Err(failed),
                    Some(runnable) = added.recv() => match runnable.place {
                        Place::LeaderOnly => leader_only.push(runnable),
                        Place::Caches | Place::Others => groups.start(runnable),
                    },
                    acquired = &mut acquired => break acquired.map_err(StartError::Election)?,
                }
            }
        }
        *is_leader = true;
        groups.start_all(leader_only);
        elected.cancel();

        let lost = elector.lost();
        tokio::pin!(lost);
        loop {
            tokio::select! {
                // Whoever does not lead any more does nothing else first.
                biased;
                reason = &mut lost => return Err(StartError::LeadershipLost(reason)),
                () = &mut shutdown => return Ok(()),
                failed = groups.failed() => return Err(failed),
                Some(runnable) = added.recv() => groups.start(runnable),
            }
        }
    }

    async fn stop(self, result: Result<(), StartError>, grace: Duration) -> Result<(), StartError> {
        let is_lost = matches!(result, Err(StartError::LeadershipLost(_)));
        let grace = if is_lost { Duration::ZERO } else { grace };
        tracing::info!(?grace, "stopping");
        let stopped = self.groups.stop(grace).await;
        if self.is_leader && !is_lost {
            self.elector.release().await;
        }
        result.and(stopped)
    }
}

/// What runs, by the order in which it stops.
#[derive(Debug, Default)]
struct Groups {
    others: Group,
    leader_only: Group,
    caches: Group,
}

impl Groups {
    fn start(&mut self, runnable: BoxedRunnable) {
        let group = match runnable.place {
            Place::Caches => &mut self.caches,
            Place::Others => &mut self.others,
            Place::LeaderOnly => &mut self.leader_only,
        };
        group.start(runnable);
    }

    fn start_all(&mut self, runnables: Vec<BoxedRunnable>) {
        for runnable in runnables {
            self.start(runnable);
        }
    }

    /// The next failure; pending while there is none.
    async fn failed(&mut self) -> StartError {
        tokio::select! {
            failed = self.caches.failed() => failed,
            failed = self.others.failed() => failed,
            failed = self.leader_only.failed() => failed,
        }
    }

    async fn stop(self, grace: Duration) -> Result<(), StartError> {
        // One grace period for everything; what lies beyond the end of time never comes.
        let deadline = Instant::now().checked_add(grace);
        let mut result = Ok(());
        for group in [self.others, self.leader_only, self.caches] {
            result = result.and(group.stop(deadline).await);
        }
        match result {
            Err(Late::Failed(error)) => Err(error),
            // Zero means: do not wait.
            Err(Late::Aborted) if !grace.is_zero() => Err(StartError::GracePeriod(grace)),
            _ => Ok(()),
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
    fn start(&mut self, runnable: BoxedRunnable) {
        let running = (runnable.start)(self.cancel.child_token());
        self.tasks.spawn(async move { (runnable.name, running.await) });
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

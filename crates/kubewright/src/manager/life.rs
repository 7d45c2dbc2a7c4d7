//! Start, run, stop.

use std::{borrow::Cow, time::Duration};

use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{BoxedRunnable, Manager, Phase, StartError};
use crate::{cache::CacheError, leader_election::DynElector, reconcile::BoxError};

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
        let (waiting, mut elector) = {
            let mut state = self.shared.state.lock();
            match std::mem::replace(&mut state.phase, Phase::Running(start)) {
                Phase::Fresh { waiting, elector } => (waiting, elector),
                earlier => {
                    state.phase = earlier;
                    return Err(StartError::AlreadyStarted);
                }
            }
        };
        let mut groups = Groups::default();
        let mut is_leader = false;
        let result = self.run(shutdown, waiting, added, &mut groups, &mut *elector, &mut is_leader).await;

        self.shared.state.lock().phase = Phase::Stopped;
        let leads = is_leader && !matches!(result, Err(StartError::LeadershipLost(_)));
        let grace = if is_leader && !leads { Duration::ZERO } else { self.shared.graceful_shutdown_timeout };
        tracing::info!(?grace, "stopping");
        let stopped = groups.stop(grace).await;
        if leads {
            elector.release().await;
        }
        result.and(stopped)
    }

    async fn run(
        &self,
        shutdown: impl Future<Output = ()>,
        waiting: Vec<BoxedRunnable>,
        mut added: mpsc::UnboundedReceiver<BoxedRunnable>,
        groups: &mut Groups,
        elector: &mut dyn DynElector,
        is_leader: &mut bool,
    ) -> Result<(), StartError> {
        let cache = self.shared.cache.clone();
        groups.caches.start("cache".into(), |cancel| async move { Ok(cache.start(cancel).await?) });
        tokio::pin!(shutdown);
        tokio::select! {
            () = &mut shutdown => return Ok(()),
            failed = groups.failed() => return Err(failed),
            synced = self.shared.cache.wait_for_cache_sync() => synced?,
        }

        let (mut leader_only, others): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|it| it.needs_leader_election);
        for runnable in others {
            groups.others.start_runnable(runnable);
        }
        {
            let acquired = elector.acquire();
            tokio::pin!(acquired);
            loop {
                tokio::select! {
                    () = &mut shutdown => return Ok(()),
                    failed = groups.failed() => return Err(failed),
                    Some(runnable) = added.recv() => if runnable.needs_leader_election {
                        leader_only.push(runnable);
                    } else {
                        groups.others.start_runnable(runnable);
                    },
                    acquired = &mut acquired => break acquired.map_err(StartError::Election)?,
                }
            }
        }
        *is_leader = true;
        for runnable in leader_only {
            groups.leader_only.start_runnable(runnable);
        }
        self.shared.elected.cancel();

        let lost = elector.lost();
        tokio::pin!(lost);
        loop {
            tokio::select! {
                // Whoever does not lead any more does nothing else first.
                biased;
                reason = &mut lost => return Err(StartError::LeadershipLost(reason)),
                () = &mut shutdown => return Ok(()),
                failed = groups.failed() => return Err(failed),
                Some(runnable) = added.recv() => if runnable.needs_leader_election {
                    groups.leader_only.start_runnable(runnable);
                } else {
                    groups.others.start_runnable(runnable);
                },
            }
        }
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
    fn start<F>(&mut self, name: Cow<'static, str>, start: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        let running = start(self.cancel.child_token());
        self.tasks.spawn(async move { (name, running.await) });
    }

    fn start_runnable(&mut self, runnable: BoxedRunnable) {
        self.start(runnable.name, runnable.start);
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

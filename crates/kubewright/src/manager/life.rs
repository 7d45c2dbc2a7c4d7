//! Start, run, stop.

use std::time::Duration;

use futures::future::try_join_all;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{BoxedRunnable, Manager, Place, Stage, StartError, ending::Ending, group::Group};
use crate::{cache::Cache, leader_election::DynElector};

impl Manager {
    /// Runs until `shutdown` is done, or something fails.
    ///
    /// Order of the start: the cache, which has to sync the kinds that are known by then; what does not need leader election; and, once this
    /// process leads, controllers and everything else. What is added later starts at once if its turn has come.
    ///
    /// Order of the stop: everything but the cache is asked to stop at once, so that no controller starts a reconcile while a server drains; what
    /// does not need leader election is waited for first, then what does, and then the cache stops, so that a reconcile that finishes its work can
    /// still read; then the leadership is given up, which is kept until then. All of them share the grace period, and what is left at its end is aborted. After a lost
    /// leadership there is no grace, since another process may be at work: what needs it is aborted before anything else.
    ///
    /// When this returns, nothing of the manager runs any more, the tasks of aborted controllers included.
    ///
    /// # Errors
    /// The first failure; [`StartError::GracePeriod`] if there was none but something did not stop in time. Further failures are logged.
    ///
    /// # Cancel safety
    /// Dropped, it aborts everything that it runs, and does not wait for it.
    pub async fn start(self, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
        let (start, added) = mpsc::unbounded_channel();
        let (caches, waiting, elector) = {
            let mut stage = self.setup.stage.lock();
            match std::mem::replace(&mut *stage, Stage::Running(start)) {
                Stage::Fresh { caches, waiting, elector } => (caches, waiting, elector),
                earlier => {
                    *stage = earlier;
                    return Err(StartError::AlreadyStarted);
                }
            }
        };
        let elected = self.setup.elected.clone();
        let mut life = Life { groups: Groups::new(), added, elector, elected, is_leader: false };
        let reason = life.run(shutdown, caches, waiting).await;

        *self.setup.stage.lock() = Stage::Stopped;
        life.stop(reason, self.setup.graceful_shutdown_timeout, &self.setup.controller_tasks).await
    }
}

/// A manager between its start and its stop.
struct Life {
    groups: Groups,
    added: mpsc::UnboundedReceiver<BoxedRunnable>,
    elector: Box<dyn DynElector>,
    /// Fires when this process leads and everything that waited for it has been started.
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

    async fn stop(
        self,
        reason: Result<(), StartError>,
        grace: Duration,
        controller_tasks: &TaskTracker,
    ) -> Result<(), StartError> {
        let Self { mut groups, mut elector, is_leader, .. } = self;
        let mut leads = is_leader && !matches!(reason, Err(StartError::LeadershipLost(_)));
        let mut ending = Ending::new(reason, if is_leader && !leads { Duration::ZERO } else { grace });
        // Those of a controller that was aborted end at their next await point, and nobody else waits for them.
        controller_tasks.close();
        if leads || !is_leader {
            let stopped = async {
                groups.stop(grace, &mut ending).await;
                controller_tasks.wait().await;
            };
            let lost = tokio::select! {
                () = stopped => None,
                // Work that finishes still needs the leadership, which has to be kept all the while.
                reason = elector.lost(), if leads => Some(reason),
            };
            if let Some(reason) = lost {
                leads = false;
                ending.note(Err(StartError::LeadershipLost(reason)));
            }
        }
        if is_leader && !leads {
            groups.abandon(&mut ending).await;
            controller_tasks.wait().await;
        }
        if leads {
            elector.release().await;
        }
        ending.result()
    }
}

/// What runs, by the order in which it is joined.
#[derive(Debug)]
struct Groups {
    others: Group,
    leader_only: Group,
    caches: Group,
}

impl Groups {
    fn new() -> Self {
        Self { others: Group::new(), leader_only: Group::new(), caches: Group::new() }
    }

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

    /// Lets everything finish, for as long as `grace` says.
    ///
    /// # Cancel safety
    /// What has not ended by then can still be [abandoned](Self::abandon).
    async fn stop(&mut self, grace: Duration, ending: &mut Ending) {
        // What lies beyond the end of time never comes.
        let deadline = Instant::now().checked_add(grace);
        self.others.cancel();
        self.leader_only.cancel();
        self.others.join(deadline, ending).await;
        self.leader_only.join(deadline, ending).await;
        self.caches.cancel();
        // An informer stops at its next await point, and runs no code that could keep it.
        self.caches.join(None, ending).await;
    }

    /// Ends everything at once, and first of all what only a leader may do.
    async fn abandon(&mut self, ending: &mut Ending) {
        self.leader_only.cancel();
        self.leader_only.abort();
        self.others.cancel();
        self.others.abort();
        self.leader_only.join(None, ending).await;
        self.others.join(None, ending).await;
        self.caches.cancel();
        self.caches.join(None, ending).await;
    }
}

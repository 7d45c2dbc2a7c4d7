//! Start, run, stop.

use std::{convert::Infallible, time::Duration};

use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{BoxedRunnable, Group, Manager, Stage, StartError, ending::Ending, groups::Groups};
use crate::leader_election::DynElector;

impl Manager {
    /// Runs until `shutdown` is done, or something fails.
    ///
    /// Order of the start: servers for health and metrics, webhooks, caches, what does not need leader election, what warms up, and, once this process leads,
    /// controllers and everything else. A [`Group`] starts when the one before is [started](super::Runnable::started): servers listen, and caches have synced the
    /// kinds that are known by then. What is added later starts at once if its turn has come.
    ///
    /// Order of the stop: everything above the caches is asked to stop at once, so that no controller starts a reconcile while others finish; what does not
    /// need leader election is waited for first, then what does; then the caches stop, so that a reconcile that finishes its work can still read; then webhooks,
    /// then health and metrics; and then the leadership is given up, which is kept until then. All of them share the grace period, and what is left at its end
    /// is aborted. After a lost leadership there is no grace, since another process may be at work: what needs it is aborted before anything else.
    ///
    /// When this returns, nothing of the manager runs any more, the tasks of aborted controllers included. So a process that lost the lease need not end: it may
    /// build another manager and compete again, see [`StartError::is_leadership_lost`].
    ///
    /// # Errors
    /// The first failure; [`StartError::GracePeriod`] if there was none but something did not stop in time. Further failures are logged.
    ///
    /// # Cancel safety
    /// Dropped, it aborts everything that it runs, and does not wait for it.
    ///
    /// # Differences from Go
    /// Base contexts carry values to runnables; here those run in the span in which the manager was started.
    pub async fn start(self, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
        let (start, added) = mpsc::unbounded_channel();
        let (waiting, elector, events) = {
            let mut stage = self.setup.stage.lock();
            match std::mem::replace(&mut *stage, Stage::Running(start)) {
                Stage::Fresh { waiting, elector, events } => (waiting, elector, events.start()),
                earlier => {
                    *stage = earlier;
                    return Err(StartError::AlreadyStarted);
                }
            }
        };
        let elected = self.setup.elected.clone();
        let work = Work { groups: Groups::new(), added, waiting, turn: None };
        let mut life = Life { work, elector, elected, is_leader: false };
        let reason = tokio::select! {
            // A failure is the better reason.
            biased;
            Err(failure) = life.run() => Err(failure),
            () = shutdown => Ok(()),
        };

        *self.setup.stage.lock() = Stage::Stopped;
        let ended =
            life.stop(reason, self.setup.graceful_shutdown_timeout, &self.setup.controller_tasks).await;
        // After everybody who may have something to tell.
        events.stop().await;
        ended
    }
}

/// A manager between its start and its stop.
struct Life {
    work: Work,
    elector: Box<dyn DynElector>,
    /// Fires when this process leads and everything that waited for it has been started.
    elected: CancellationToken,
    is_leader: bool,
}

impl Life {
    /// Runs until something fails.
    ///
    /// # Cancel safety
    /// Dropped, it leaves all to [`stop`](Self::stop).
    async fn run(&mut self) -> Result<Infallible, StartError> {
        let Self { work, elector, elected, is_leader } = self;
        for group in Group::ON_EVERY_REPLICA {
            let ready = work.start(group);
            work.attend(ready).await?;
        }
        work.attend(elector.acquire()).await?.map_err(StartError::Election)?;
        *is_leader = true;
        let ready = work.start(Group::LeaderElection);
        let leads = async {
            ready.await;
            elected.cancel();
            std::future::pending::<Infallible>().await
        };
        let lost = async {
            tokio::select! {
                // Whoever does not lead any more does nothing else first.
                biased;
                reason = elector.lost() => reason,
                never = leads => match never {},
            }
        };
        Err(StartError::LeadershipLost(work.attend(lost).await?))
    }

    async fn stop(
        self,
        reason: Result<(), StartError>,
        grace: Duration,
        controller_tasks: &TaskTracker,
    ) -> Result<(), StartError> {
        let Self { work: Work { mut groups, .. }, mut elector, is_leader, .. } = self;
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

/// What runs, and what waits for its turn.
struct Work {
    groups: Groups,
    added: mpsc::UnboundedReceiver<BoxedRunnable>,
    /// In the order in which they were added.
    waiting: Vec<BoxedRunnable>,
    /// The last group that was started.
    turn: Option<Group>,
}

impl Work {
    /// Starts what waits in `group`; what is added to it later starts at once. Returns what is done when all that were started are ready.
    fn start(&mut self, group: Group) -> impl Future<Output = ()> + use<> {
        self.turn = Some(group);
        for runnable in self.waiting.extract_if(.., |runnable| runnable.group == group) {
            self.groups.start(runnable);
        }
        self.groups.of(group).ready()
    }

    /// Looks after all that runs until `done` is.
    async fn attend<T>(&mut self, done: impl Future<Output = T>) -> Result<T, StartError> {
        tokio::pin!(done);
        loop {
            tokio::select! {
                // Nothing starts after a failure, or once it would be too late.
                biased;
                failed = self.groups.failed() => return Err(failed),
                done = &mut done => return Ok(done),
                Some(runnable) = self.added.recv() => self.take(runnable),
            }
        }
    }

    fn take(&mut self, runnable: BoxedRunnable) {
        if Some(runnable.group) <= self.turn {
            self.groups.start(runnable);
        } else {
            self.waiting.push(runnable);
        }
    }
}

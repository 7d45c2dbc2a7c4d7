//! All groups of a manager: the order of the start, and of the stop.

use std::time::Duration;

use tokio::time::Instant;

use super::{BoxedRunnable, Group, StartError, ending::Ending, group::Tasks};

/// What runs.
#[derive(Debug)]
pub(super) struct Groups {
    http_servers: Tasks,
    webhooks: Tasks,
    caches: Tasks,
    others: Tasks,
    warmup: Tasks,
    leader_election: Tasks,
}

impl Groups {
    pub(super) fn new() -> Self {
        Self {
            http_servers: Tasks::new(),
            webhooks: Tasks::new(),
            caches: Tasks::new(),
            others: Tasks::new(),
            warmup: Tasks::new(),
            leader_election: Tasks::new(),
        }
    }

    pub(super) fn of(&mut self, group: Group) -> &mut Tasks {
        match group {
            Group::HttpServers => &mut self.http_servers,
            Group::Webhooks => &mut self.webhooks,
            Group::Caches => &mut self.caches,
            Group::Others => &mut self.others,
            Group::Warmup => &mut self.warmup,
            Group::LeaderElection => &mut self.leader_election,
        }
    }

    pub(super) fn start(&mut self, runnable: BoxedRunnable) {
        self.of(runnable.group).start(runnable);
    }

    /// The next failure; pending while there is none.
    pub(super) async fn failed(&mut self) -> StartError {
        tokio::select! {
            failed = self.http_servers.failed() => failed,
            failed = self.webhooks.failed() => failed,
            failed = self.caches.failed() => failed,
            failed = self.others.failed() => failed,
            failed = self.warmup.failed() => failed,
            failed = self.leader_election.failed() => failed,
        }
    }

    /// Lets everything finish, for as long as `grace` says.
    ///
    /// # Cancel safety
    /// What has not ended by then can still be [abandoned](Self::abandon).
    pub(super) async fn stop(&mut self, grace: Duration, ending: &mut Ending) {
        // What lies beyond the end of time never comes.
        let deadline = Instant::now().checked_add(grace);
        let working = [&mut self.others, &mut self.warmup, &mut self.leader_election];
        for tasks in &working {
            tasks.cancel();
        }
        for tasks in working {
            tasks.join(deadline, ending).await;
        }
        self.caches.cancel();
        // An informer stops at its next await point, and runs no code that could keep it.
        self.caches.join(None, ending).await;
        for serving in [&mut self.webhooks, &mut self.http_servers] {
            serving.cancel();
            serving.join(deadline, ending).await;
        }
    }

    /// Ends everything at once, and first of all what only a leader may do.
    pub(super) async fn abandon(&mut self, ending: &mut Ending) {
        let order = [
            &mut self.leader_election,
            &mut self.warmup,
            &mut self.others,
            &mut self.webhooks,
            &mut self.http_servers,
        ];
        let mut order = order;
        for tasks in &mut order {
            tasks.cancel();
            tasks.abort();
        }
        for tasks in order {
            tasks.join(None, ending).await;
        }
        self.caches.cancel();
        self.caches.join(None, ending).await;
    }
}

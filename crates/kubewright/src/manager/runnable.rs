//! Anything that a manager runs.

use std::borrow::Cow;

use tokio_util::sync::CancellationToken;

use crate::{
    BoxError,
    cache::Cache,
    controller::{Controller, Hosted, Report, Running},
    http_server::HttpServer,
    reconcile::RequestType,
};

/// Something that runs as long as the manager does.
///
/// # Example: a task of one's own
/// ```
/// use kubewright::{manager::Runnable, BoxError};
/// use tokio_util::sync::CancellationToken;
///
/// struct Heartbeat;
///
/// impl Runnable for Heartbeat {
///     async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
///         let mut beat = tokio::time::interval(std::time::Duration::from_secs(60));
///         while cancel.run_until_cancelled(beat.tick()).await.is_some() {
///             tracing::info!("alive");
///         }
///         Ok(())
///     }
/// }
/// ```
///
/// Source: controller-runtime `manager.Runnable`.
#[diagnostic::on_unimplemented(message = "`{Self}` is nothing that a manager can run")]
pub trait Runnable: Send + 'static {
    /// Runs until it is done or `cancel` fires. To return early is fine.
    ///
    /// # Errors
    /// An error stops the manager.
    ///
    /// # Cancel safety
    /// It is dropped when the manager's grace period is over.
    fn start(self, cancel: CancellationToken) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// Whether it runs on the leader alone.
    ///
    /// Default: `true`, as everything that writes should. Servers that every replica offers say `false`.
    ///
    /// Source: controller-runtime `manager.LeaderElectionRunnable`.
    fn needs_leader_election(&self) -> bool {
        true
    }

    /// With what it starts and stops.
    ///
    /// Default: as [`needs_leader_election`](Self::needs_leader_election) says, [`Group::LeaderElection`] or [`Group::Others`].
    ///
    /// Source: controller-runtime `manager.runnables.Add`, which goes by the type alone.
    fn group(&self) -> Group {
        if self.needs_leader_election() { Group::LeaderElection } else { Group::Others }
    }

    /// Is done once the next group may start. Until then it waits, however long that takes; whoever ends counts as ready.
    ///
    /// Default: at once.
    ///
    /// # Errors
    /// An error stops the manager.
    fn started(&self) -> impl Future<Output = Result<(), BoxError>> + Send + 'static {
        std::future::ready(Ok(()))
    }

    /// The name in logs and errors; the type's name by default.
    fn name(&self) -> Cow<'static, str> {
        std::any::type_name::<Self>().into()
    }
}

/// What starts and stops together, in the order of the start.
///
/// Source: controller-runtime `manager.runnables`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Group {
    /// Health and metrics: first and last, so that the other groups can be watched as they start and stop.
    HttpServers,
    /// What the API server asks before it answers: the caches' first lists may need a conversion.
    Webhooks,
    /// What everything below reads.
    Caches,
    /// What runs on every replica.
    Others,
    /// Controllers that fill their queues before they lead.
    Warmup,
    /// What runs on the leader alone.
    LeaderElection,
}

impl Group {
    /// What does not wait for the leadership, in the order of the start.
    pub(super) const ON_EVERY_REPLICA: [Self; 5] =
        [Self::HttpServers, Self::Webhooks, Self::Caches, Self::Others, Self::Warmup];
}

impl<R: RequestType> Runnable for Controller<R> {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        Ok(Self::start(self, cancel).await?)
    }

    fn needs_leader_election(&self) -> bool {
        self.options().needs_leader_election
    }

    fn group(&self) -> Group {
        group_of_controller(self.options().needs_leader_election, self.options().enable_warmup)
    }

    fn name(&self) -> Cow<'static, str> {
        controller_name(Self::name(self))
    }
}

impl Runnable for HttpServer {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        Ok(Self::start(self, cancel).await?)
    }

    fn needs_leader_election(&self) -> bool {
        self.options().needs_leader_election
    }

    fn group(&self) -> Group {
        if self.options().needs_leader_election { Group::LeaderElection } else { Group::HttpServers }
    }

    fn started(&self) -> impl Future<Output = Result<(), BoxError>> + Send + 'static {
        let server = self.clone();
        async move {
            server.listening().await;
            Ok(())
        }
    }

    fn name(&self) -> Cow<'static, str> {
        format!("{} server", Self::name(self)).into()
    }
}

/// [`Runnable`] as a value.
pub(super) struct BoxedRunnable {
    pub(super) name: Cow<'static, str>,
    pub(super) group: Group,
    pub(super) ready: Running,
    pub(super) start: Box<dyn FnOnce(CancellationToken, Report) -> Running + Send>,
}

fn group_of_controller(needs_leader_election: bool, warm: bool) -> Group {
    match (needs_leader_election, warm) {
        (false, _) => Group::Others,
        (true, true) => Group::Warmup,
        (true, false) => Group::LeaderElection,
    }
}

fn controller_name(name: &str) -> Cow<'static, str> {
    format!("controller {name}").into()
}

impl BoxedRunnable {
    pub(super) fn new(runnable: impl Runnable) -> Self {
        Self {
            name: runnable.name(),
            group: runnable.group(),
            ready: Box::pin(runnable.started()),
            start: Box::new(move |cancel, _| Box::pin(runnable.start(cancel))),
        }
    }

    pub(super) fn of_controller(controller: Hosted) -> Self {
        Self {
            name: controller_name(&controller.name),
            group: group_of_controller(controller.needs_leader_election, controller.enable_warmup),
            ready: at_once(),
            start: controller.start,
        }
    }

    pub(super) fn of_cache(cache: Cache) -> Self {
        let synced = cache.clone();
        Self {
            name: "cache".into(),
            group: Group::Caches,
            // What is known of it by then, as an index declared before the start.
            ready: Box::pin(async move { Ok(synced.wait_for_cache_sync().await?) }),
            start: Box::new(move |cancel, _| {
                // At the call, not in the task: what is spawned next may read the cache in its first step.
                let running = cache.start(cancel);
                Box::pin(async move { Ok(running.await?) })
            }),
        }
    }
}

fn at_once() -> Running {
    Box::pin(std::future::ready(Ok(())))
}

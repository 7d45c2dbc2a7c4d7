//! Anything that a manager runs.

use std::borrow::Cow;

use tokio_util::sync::CancellationToken;

use crate::{
    BoxError,
    cache::Cache,
    controller::{Controller, Hosted, Report, Running},
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

    /// The name in logs and errors; the type's name by default.
    fn name(&self) -> Cow<'static, str> {
        std::any::type_name::<Self>().into()
    }
}

impl<R: RequestType> Runnable for Controller<R> {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        Ok(Self::start(self, cancel).await?)
    }

    fn needs_leader_election(&self) -> bool {
        self.waits_for_leadership()
    }

    fn name(&self) -> Cow<'static, str> {
        controller_name(Self::name(self))
    }
}

/// [`Runnable`] as a value.
pub(super) struct BoxedRunnable {
    pub(super) name: Cow<'static, str>,
    pub(super) place: Place,
    pub(super) start: Box<dyn FnOnce(CancellationToken, Report) -> Running + Send>,
}

/// With what a runnable starts and stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Before everything else, and after it.
    Caches,
    /// On every replica.
    Others,
    /// On the leader.
    LeaderOnly,
}

impl Place {
    fn of(needs_leader_election: bool) -> Self {
        if needs_leader_election { Self::LeaderOnly } else { Self::Others }
    }
}

fn controller_name(name: &str) -> Cow<'static, str> {
    format!("controller {name}").into()
}

impl BoxedRunnable {
    pub(super) fn new(runnable: impl Runnable) -> Self {
        Self {
            name: runnable.name(),
            place: Place::of(runnable.needs_leader_election()),
            start: Box::new(move |cancel, _| Box::pin(runnable.start(cancel))),
        }
    }

    pub(super) fn of_controller(controller: Hosted) -> Self {
        Self {
            name: controller_name(&controller.name),
            place: Place::of(controller.needs_leader_election),
            start: controller.start,
        }
    }

    pub(super) fn of_cache(cache: Cache) -> Self {
        Self {
            name: "cache".into(),
            place: Place::Caches,
            start: Box::new(move |cancel, _| {
                // At the call, not in the task: what is spawned next may read the cache in its first step.
                let running = cache.start(cancel);
                Box::pin(async move { Ok(running.await?) })
            }),
        }
    }
}

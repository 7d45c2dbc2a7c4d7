//! What runs, in which order, and how it stops.
//!
//! A [`Manager`] owns the connection to the API server, the cache, the client, and everything that runs on them. It starts them [group](Group) by group:
//! servers for health and metrics, webhooks, caches, what runs on every replica, and, once it leads, controllers and what else needs that; it stops them
//! the other way round.

mod builder;
mod ending;
mod error;
mod group;
mod groups;
mod life;
mod metrics_server;
mod probes;
mod runnable;

use std::{collections::HashSet, fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use builder::ManagerBuilder;
pub use error::{ManagerError, StartError};
use probes::Probes;
use runnable::BoxedRunnable;
pub use runnable::{Group, Runnable};

use crate::{
    cache::Cache,
    client::Client,
    cluster::Cluster,
    controller::{BuildError, ControllerOptions, Host, Hosted},
    leader_election::{DynElector, Leadership},
    metrics::{MetricsServer, Registry},
    recorder::{EventBroadcaster, EventRecorder, EventWriter},
};

/// Owns what an operator shares, and runs what it is made of.
///
/// Cheap to clone; the clones are handles of one manager.
///
/// Source: controller-runtime `manager.Manager`.
#[derive(Clone)]
pub struct Manager {
    setup: Arc<Setup>,
}

/// What all handles of one manager share.
struct Setup {
    cluster: Cluster,
    controller_defaults: ControllerOptions,
    metrics_registry: Registry,
    events: EventBroadcaster,
    graceful_shutdown_timeout: Duration,
    leadership: Option<Leadership>,
    elected: CancellationToken,
    /// Every task of every controller.
    controller_tasks: TaskTracker,
    metrics_server: MetricsServer,
    probes: Probes,
    controller_names: Mutex<HashSet<String>>,
    stage: Mutex<Stage>,
}

enum Stage {
    /// Not started: what is added waits here.
    Fresh {
        waiting: Vec<BoxedRunnable>,
        elector: Box<dyn DynElector>,
        events: EventWriter,
    },
    /// What is added starts at once. A message for each runnable that the process ever adds, so the channel needs no bound.
    Running(mpsc::UnboundedSender<BoxedRunnable>),
    Stopped,
}

impl Manager {
    /// A manager for the cluster that the environment names.
    pub fn builder() -> ManagerBuilder {
        ManagerBuilder::new()
    }

    /// Reads from the cache and writes to the API server.
    pub fn client(&self) -> Client {
        self.setup.cluster.client()
    }

    /// The cache that the client and the controllers read.
    pub fn cache(&self) -> &Cache {
        self.setup.cluster.cache()
    }

    /// The HTTP client underneath, for what has no place here.
    pub fn kube(&self) -> &kube::Client {
        self.setup.cluster.kube()
    }

    /// Where the manager's controllers and their queues are measured.
    pub fn metrics_registry(&self) -> &Registry {
        &self.setup.metrics_registry
    }

    /// Tells of events in the name of `controller`, a qualified name. Repetitions become a series of `events.k8s.io/v1`.
    ///
    /// What is told before the manager starts is written when it does; what is told until it has stopped is written before
    /// [`start`](Self::start) returns, which takes five seconds more at most. All recorders of a manager share one queue.
    ///
    /// Source: controller-runtime `manager.Manager.GetEventRecorder`.
    pub fn event_recorder(&self, controller: &str) -> EventRecorder {
        self.setup.events.recorder(controller)
    }

    /// As [`event_recorder`](Self::event_recorder), by the older API `v1`: repetitions in the same words are counted, many that differ by their
    /// words are combined, and what is too much about one object is left out.
    ///
    /// Source: controller-runtime `manager.Manager.GetEventRecorderFor`.
    pub fn core_event_recorder(&self, controller: &str) -> EventRecorder {
        self.setup.events.core_recorder(controller)
    }

    /// The manager's own cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.setup.cluster
    }

    /// Runs the cache of another cluster with the manager's own: it syncs before any controller starts, and stops after the last has stopped. Once the
    /// manager runs, it starts at once.
    ///
    /// # Errors
    /// [`ManagerError::Stopping`] if the manager is stopping, or has stopped.
    pub fn add_cluster(&self, cluster: &Cluster) -> Result<(), ManagerError> {
        self.add_boxed(BoxedRunnable::of_cache(cluster.cache().clone()))
    }

    /// Waits until the manager leads and runs its controllers. The cache has synced what was known at the start; the client can read.
    ///
    /// Source: controller-runtime `manager.Manager.Elected`.
    pub async fn elected(&self) {
        self.setup.elected.cancelled().await;
    }

    /// What leader-only work checks right before a write that no two replicas may make. `None` without
    /// [`leader_election`](ManagerBuilder::leader_election).
    pub fn leadership(&self) -> Option<&Leadership> {
        self.setup.leadership.as_ref()
    }

    /// Runs `runnable` with the manager: from its start, or at once if it has started.
    ///
    /// # Errors
    /// [`ManagerError::Stopping`] if the manager is stopping, or has stopped.
    pub fn add(&self, runnable: impl Runnable) -> Result<(), ManagerError> {
        self.add_boxed(BoxedRunnable::new(runnable))
    }

    fn add_controller(&self, controller: Hosted) -> Result<(), BuildError> {
        if !self.setup.controller_names.lock().insert(controller.name.to_string()) {
            return Err(BuildError::NameTaken(controller.name.to_string()));
        }
        self.add_boxed(BoxedRunnable::of_controller(controller)).map_err(|_| BuildError::Stopping)
    }

    fn add_boxed(&self, runnable: BoxedRunnable) -> Result<(), ManagerError> {
        match &mut *self.setup.stage.lock() {
            Stage::Fresh { waiting, .. } => waiting.push(runnable),
            Stage::Running(start) => start.send(runnable).map_err(|_| ManagerError::Stopping)?,
            Stage::Stopped => return Err(ManagerError::Stopping),
        }
        Ok(())
    }
}

impl From<&Manager> for Host {
    fn from(manager: &Manager) -> Self {
        let setup = &manager.setup;
        let manager = manager.clone();
        Self {
            cache: setup.cluster.cache().clone(),
            controller_defaults: setup.controller_defaults.clone(),
            elected: setup.elected.clone(),
            registry: setup.metrics_registry.clone(),
            tracker: setup.controller_tasks.clone(),
            add: Arc::new(move |controller| manager.add_controller(controller)),
        }
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("cluster", &self.setup.cluster).finish_non_exhaustive()
    }
}

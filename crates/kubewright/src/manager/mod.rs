//! What runs, in which order, and how it stops.
//!
//! A [`Manager`] owns the connection to the API server, the cache, the client, and everything that runs on them. It starts the cache first, waits
//! for what is known of it to sync, starts what runs on every replica, and, once it leads, controllers and what else needs that; it stops them
//! the other way round.

mod builder;
mod error;
mod life;
mod runnable;

use std::{collections::HashSet, fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use builder::ManagerBuilder;
pub use error::{ManagerError, StartError};
pub use runnable::Runnable;
use runnable::{BoxedRunnable, Place};

use crate::{
    cache::Cache,
    client::Client,
    cluster::Cluster,
    controller::{BuildError, ControllerOptions, Host, Hosted},
    leader_election::DynElector,
    metrics::Registry,
};

/// Owns what an operator shares, and runs what it is made of.
///
/// Cheap to clone; the clones are handles of one manager.
///
/// Source: controller-runtime `manager.Manager`.
#[derive(Clone)]
pub struct Manager {
    shared: Arc<Shared>,
}

struct Shared {
    cluster: Cluster,
    controller_defaults: ControllerOptions,
    metrics_registry: Registry,
    graceful_shutdown_timeout: Duration,
    elected: CancellationToken,
    state: Mutex<State>,
}

struct State {
    controller_names: HashSet<String>,
    phase: Phase,
}

enum Phase {
    /// Not started: what is added waits here.
    Fresh {
        caches: Vec<Cache>,
        waiting: Vec<BoxedRunnable>,
        elector: Box<dyn DynElector>,
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
        self.shared.cluster.client()
    }

    /// The cache that the client and the controllers read.
    pub fn cache(&self) -> &Cache {
        self.shared.cluster.cache()
    }

    /// The HTTP client underneath, for what has no place here.
    pub fn kube(&self) -> &kube::Client {
        self.shared.cluster.kube()
    }

    /// Where the manager's controllers and their queues are measured.
    pub fn metrics_registry(&self) -> &Registry {
        &self.shared.metrics_registry
    }

    /// The manager's own cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.shared.cluster
    }

    /// Runs the cache of another cluster with the manager's own: it syncs before any controller starts, and stops after the last has stopped. Once the
    /// manager runs, it starts at once.
    ///
    /// # Errors
    /// [`ManagerError::Stopping`] if the manager is stopping, or has stopped.
    pub fn add_cluster(&self, cluster: &Cluster) -> Result<(), ManagerError> {
        let cache = cluster.cache().clone();
        match &mut self.shared.state.lock().phase {
            Phase::Fresh { caches, .. } => caches.push(cache),
            Phase::Running(start) => {
                start.send(BoxedRunnable::of_cache(cache)).map_err(|_| ManagerError::Stopping)?;
            }
            Phase::Stopped => return Err(ManagerError::Stopping),
        }
        Ok(())
    }

    /// Waits until the manager leads and runs its controllers. The cache has synced what was known at the start; the client can read.
    ///
    /// Source: controller-runtime `manager.Manager.Elected`.
    pub async fn elected(&self) {
        self.shared.elected.cancelled().await;
    }

    /// Runs `runnable` with the manager: from its start, or at once if it has started.
    ///
    /// # Errors
    /// [`ManagerError::Stopping`] if the manager is stopping, or has stopped.
    pub fn add(&self, runnable: impl Runnable) -> Result<(), ManagerError> {
        self.add_boxed(BoxedRunnable::new(runnable))
    }

    fn add_controller(&self, controller: Hosted) -> Result<(), BuildError> {
        if !self.shared.state.lock().controller_names.insert(controller.name.to_string()) {
            return Err(BuildError::NameTaken(controller.name.to_string()));
        }
        self.add_boxed(BoxedRunnable::of_controller(controller)).map_err(|_| BuildError::Stopping)
    }

    fn add_boxed(&self, runnable: BoxedRunnable) -> Result<(), ManagerError> {
        match &mut self.shared.state.lock().phase {
            Phase::Fresh { waiting, .. } => waiting.push(runnable),
            Phase::Running(start) => start.send(runnable).map_err(|_| ManagerError::Stopping)?,
            Phase::Stopped => return Err(ManagerError::Stopping),
        }
        Ok(())
    }
}

impl From<&Manager> for Host {
    fn from(manager: &Manager) -> Self {
        let shared = &manager.shared;
        let manager = manager.clone();
        Self {
            cache: shared.cluster.cache().clone(),
            controller_defaults: shared.controller_defaults.clone(),
            elected: shared.elected.clone(),
            registry: shared.metrics_registry.clone(),
            add: Arc::new(move |controller| manager.add_controller(controller)),
        }
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("cluster", &self.shared.cluster).finish_non_exhaustive()
    }
}

//! Says what a manager is made of.

use std::{collections::HashSet, fmt, time::Duration};

use kube::Config;
use parking_lot::Mutex;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Manager, ManagerError, Setup, Stage};
use crate::{
    cache::CacheOptions,
    cluster::{Cluster, ClusterBuilder},
    controller::ControllerOptions,
    leader_election::{Alone, DynElector, Elector},
    metrics::{self, Registry},
};

/// Builds a [`Manager`].
#[must_use = "a manager that is not built does nothing"]
pub struct ManagerBuilder {
    cluster: ClusterBuilder,
    controller_defaults: ControllerOptions,
    metrics_registry: Registry,
    graceful_shutdown_timeout: Duration,
    elector: Box<dyn DynElector>,
}

impl ManagerBuilder {
    pub(super) fn new() -> Self {
        Self {
            cluster: Cluster::builder(),
            controller_defaults: ControllerOptions::default(),
            metrics_registry: metrics::registry().clone(),
            graceful_shutdown_timeout: Duration::from_secs(30),
            elector: Box::new(Alone),
        }
    }

    /// As [`ClusterBuilder::config`].
    pub fn config(mut self, config: Config) -> Self {
        self.cluster = self.cluster.config(config);
        self
    }

    /// As [`ClusterBuilder::kube_client`].
    pub fn kube_client(mut self, client: kube::Client) -> Self {
        self.cluster = self.cluster.kube_client(client);
        self
    }

    /// How the cache behaves.
    pub fn cache(mut self, options: CacheOptions) -> Self {
        self.cluster = self.cluster.cache(options);
        self
    }

    /// As [`ClusterBuilder::field_manager`].
    pub fn field_manager(mut self, name: impl Into<String>) -> Self {
        self.cluster = self.cluster.field_manager(name);
        self
    }

    /// What controllers start from, before their own options.
    pub fn controller_defaults(mut self, options: ControllerOptions) -> Self {
        self.controller_defaults = options;
        self
    }

    /// Where the cache, controllers and their queues are measured; one of its own keeps the numbers of two managers in one process apart.
    ///
    /// Default: the process-wide [`metrics::registry`].
    pub fn metrics_registry(mut self, registry: Registry) -> Self {
        self.metrics_registry = registry;
        self
    }

    /// Who decides whether this process leads. Default: nobody, it leads from its start.
    pub fn elector(mut self, elector: impl Elector) -> Self {
        self.elector = Box::new(elector);
        self
    }

    /// How long runnables may take to stop before they are aborted. Zero does not wait; `Duration::MAX` waits for ever.
    ///
    /// Default: 30 s. Source: controller-runtime `manager.Options.GracefulShutdownTimeout`.
    pub fn graceful_shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.graceful_shutdown_timeout = timeout;
        self
    }

    /// Builds the manager. Makes no request.
    ///
    /// # Errors
    /// As [`ClusterBuilder::build`].
    pub async fn build(self) -> Result<Manager, ManagerError> {
        let cluster = self.cluster.default_metrics_registry(&self.metrics_registry).build().await?;
        let stage = Stage::Fresh {
            caches: vec![cluster.cache().clone()],
            waiting: Vec::new(),
            elector: self.elector,
        };
        let setup = Setup {
            cluster,
            controller_defaults: self.controller_defaults,
            metrics_registry: self.metrics_registry,
            graceful_shutdown_timeout: self.graceful_shutdown_timeout,
            elected: CancellationToken::new(),
            controller_tasks: TaskTracker::new(),
            controller_names: Mutex::new(HashSet::new()),
            stage: Mutex::new(stage),
        };
        Ok(Manager { setup: setup.into() })
    }
}

impl fmt::Debug for ManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagerBuilder").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

//! Says what a manager is made of.

use std::{collections::HashSet, fmt, time::Duration};

use kube::Config;
use parking_lot::Mutex;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    BoxedRunnable, Manager, ManagerError, Setup, Stage,
    probes::{ProbeOptions, Probes},
};
use crate::{
    cache::CacheOptions,
    cluster::{Cluster, ClusterBuilder},
    controller::ControllerOptions,
    http_server::BindAddress,
    leader_election::{Alone, DynElector, Elector, LeaderElection, Leadership, LeaseElector},
    metrics::{self, MetricsServer, MetricsServerOptions, Registry},
    recorder::EventBroadcaster,
};

/// Builds a [`Manager`].
#[must_use = "a manager that is not built does nothing"]
pub struct ManagerBuilder {
    cluster: ClusterBuilder,
    controller_defaults: ControllerOptions,
    metrics_registry: Registry,
    graceful_shutdown_timeout: Duration,
    election: Election,
    election_client: Option<kube::Client>,
    metrics_server: MetricsServerOptions,
    probes: ProbeOptions,
}

/// Who decides whether the process leads.
enum Election {
    Elector(Box<dyn DynElector>),
    Lease(LeaderElection),
}

impl Election {
    /// A lease is asked for through a client of its own: what else the manager does never keeps a renewal waiting.
    async fn settle(
        self,
        cluster: ClusterBuilder,
        own: Option<kube::Client>,
        registry: &Registry,
    ) -> Result<(Cluster, Box<dyn DynElector>, Option<Leadership>), ManagerError> {
        match self {
            Self::Elector(elector) => Ok((cluster.build().await?, elector, None)),
            Self::Lease(election) => {
                let (cluster, kube) = cluster.build_with_second_client().await?;
                let elector = LeaseElector::new(own.unwrap_or(kube), election)?.measured_in(registry);
                let leadership = elector.leadership().clone();
                Ok((cluster, Box::new(elector), Some(leadership)))
            }
        }
    }
}

impl ManagerBuilder {
    pub(super) fn new() -> Self {
        Self {
            cluster: Cluster::builder(),
            controller_defaults: ControllerOptions::default(),
            metrics_registry: metrics::registry().clone(),
            graceful_shutdown_timeout: Duration::from_secs(30),
            election: Election::Elector(Box::new(Alone)),
            election_client: None,
            metrics_server: MetricsServerOptions::default(),
            probes: ProbeOptions::default(),
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

    /// As [`ClusterBuilder::rest_client_metrics`].
    pub fn rest_client_metrics(mut self, measure: bool) -> Self {
        self.cluster = self.cluster.rest_client_metrics(measure);
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

    /// Competes with other replicas for a lease; what needs leader election runs on the holder alone. Default: off, the manager leads from its start.
    ///
    /// A manager that loses the lease ends with [`StartError::LeadershipLost`](super::StartError::LeadershipLost), and its process should too.
    ///
    /// Source: controller-runtime `manager.Options.LeaderElection`.
    pub fn leader_election(mut self, election: LeaderElection) -> Self {
        self.election = Election::Lease(election);
        self
    }

    /// Through which client the lease is read and written.
    ///
    /// Default: one of its own, with connections of its own, made from the manager's configuration. After
    /// [`kube_client`](Self::kube_client) there is no configuration to make one from, so the lease then goes the way of all other traffic unless this is set.
    ///
    /// Source: controller-runtime `manager.Options.LeaderElectionConfig`.
    pub fn leader_election_client(mut self, client: kube::Client) -> Self {
        self.election_client = Some(client);
        self
    }

    /// Lets `elector` decide whether this process leads, in place of [`leader_election`](Self::leader_election).
    pub fn elector(mut self, elector: impl Elector) -> Self {
        self.election = Election::Elector(Box::new(elector));
        self
    }

    /// How metrics are served. Default: not at all.
    ///
    /// Source: controller-runtime `manager.Options.Metrics`.
    pub fn metrics_server(mut self, options: MetricsServerOptions) -> Self {
        self.metrics_server = options;
        self
    }

    /// Where the kubelet asks for the manager's health. Default: off.
    ///
    /// Source: controller-runtime `manager.Options.HealthProbeBindAddress`.
    pub fn health_probe_bind_address(mut self, address: BindAddress) -> Self {
        self.probes.address = address;
        self
    }

    /// The path at which the manager says whether it is alive. Default: `/healthz`.
    ///
    /// Source: controller-runtime `manager.Options.LivenessEndpointName`.
    pub fn liveness_endpoint_name(mut self, path: impl Into<String>) -> Self {
        self.probes.liveness = path.into();
        self
    }

    /// The path at which the manager says whether it is ready. Default: `/readyz`.
    ///
    /// Source: controller-runtime `manager.Options.ReadinessEndpointName`.
    pub fn readiness_endpoint_name(mut self, path: impl Into<String>) -> Self {
        self.probes.readiness = path.into();
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
    /// As [`ClusterBuilder::build`], [`ManagerError::LeaderElection`] as [`LeaseElector::new`], and [`ManagerError::Path`] if endpoints have no path of their own.
    pub async fn build(self) -> Result<Manager, ManagerError> {
        let cluster = self.cluster.default_metrics_registry(&self.metrics_registry);
        let registry = self.metrics_registry;
        let (cluster, elector, leadership) =
            self.election.settle(cluster, self.election_client, &registry).await?;
        let probes = Probes::new(self.probes)?;
        if let Some(leadership) = &leadership {
            probes.healthz.add("leader-election".to_owned(), leadership.clone());
        }
        let metrics_server = MetricsServer::new(self.metrics_server, &registry, cluster.kube())?;
        let waiting = vec![
            BoxedRunnable::new(metrics_server.server.clone()),
            BoxedRunnable::new(probes.server.clone()),
            BoxedRunnable::of_cache(cluster.cache().clone()),
        ];
        let (events, event_writer) = EventBroadcaster::new(cluster.kube().clone(), &registry);
        let stage = Stage::Fresh { waiting, elector, events: event_writer };
        let setup = Setup {
            cluster,
            controller_defaults: self.controller_defaults,
            metrics_registry: registry,
            events,
            graceful_shutdown_timeout: self.graceful_shutdown_timeout,
            leadership,
            metrics_server,
            probes,
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

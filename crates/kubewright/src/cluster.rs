//! One API server, and what reads and writes it: HTTP client, cache, client.
//!
//! A [`Manager`](crate::manager::Manager) has one cluster of its own. Others are added with
//! [`Manager::add_cluster`](crate::manager::Manager::add_cluster); their caches then start, sync and stop with the manager's own.

use std::fmt;

use kube::{Config, client::ClientBuilder};

use crate::{
    cache::{Cache, CacheOptions},
    client::Client,
    metrics::{self, Registry, RestClientMetrics},
};

/// One API server as a controller sees it. Cheap to clone.
///
/// Source: controller-runtime `cluster.Cluster`.
#[derive(Clone)]
pub struct Cluster {
    kube: kube::Client,
    cache: Cache,
    client: Client,
}

impl Cluster {
    /// The cluster that the environment names.
    pub fn builder() -> ClusterBuilder {
        ClusterBuilder {
            connection: Connection::Inferred,
            cache: CacheOptions::default(),
            field_manager: None,
            rest_client_metrics: false,
        }
    }

    /// Reads from the cache and writes to the API server.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The cache that the client reads.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The HTTP client underneath, for what has no place here.
    pub fn kube(&self) -> &kube::Client {
        &self.kube
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// Builds a [`Cluster`].
#[must_use = "a cluster that is not built does nothing"]
pub struct ClusterBuilder {
    connection: Connection,
    cache: CacheOptions,
    field_manager: Option<String>,
    rest_client_metrics: bool,
}

enum Connection {
    Inferred,
    Config(Box<Config>),
    Client(kube::Client),
}

impl ClusterBuilder {
    /// Talks to the cluster of `config`. Default: the kubeconfig that `KUBECONFIG` or `~/.kube/config` name, else the cluster that
    /// the process runs in.
    pub fn config(mut self, config: Config) -> Self {
        self.connection = Connection::Config(Box::new(config));
        self
    }

    /// Talks through `client`: one with layers of its own, or one that reaches an embedded API server.
    pub fn kube_client(mut self, client: kube::Client) -> Self {
        self.connection = Connection::Client(client);
        self
    }

    /// How the cache behaves.
    pub fn cache(mut self, options: CacheOptions) -> Self {
        self.cache = options;
        self
    }

    /// Where the cache is measured, if its options do not say.
    pub(crate) fn default_metrics_registry(mut self, registry: &Registry) -> Self {
        self.cache.metrics_registry.get_or_insert_with(|| registry.clone());
        self
    }

    /// Who writes, in `metadata.managedFields`. Default: the user agent's name.
    pub fn field_manager(mut self, name: impl Into<String>) -> Self {
        self.field_manager = Some(name.into());
        self
    }

    /// Measures how long requests to the API server take and how large they are, besides counting them. Default: `false`. A client that was
    /// [given](Self::kube_client) measures what its own layers do.
    ///
    /// Source: controller-runtime `metrics.RegisterRESTClientMetrics`.
    pub fn rest_client_metrics(mut self, measure: bool) -> Self {
        self.rest_client_metrics = measure;
        self
    }

    fn metered(&self) -> Metered {
        let registry = self.cache.metrics_registry.as_ref().unwrap_or_else(|| metrics::registry());
        Metered { registry: registry.clone(), in_detail: self.rest_client_metrics }
    }

    /// Builds the cluster. Makes no request.
    ///
    /// # Errors
    /// [`ClusterError::NotFound`] if the environment names no cluster, [`ClusterError::Client`] if the configuration of one is not usable.
    pub async fn build(self) -> Result<Cluster, ClusterError> {
        let metered = self.metered();
        let kube = self.connection.settle().await?.client(&metered)?;
        Ok(Self::built(kube, self.cache, self.field_manager))
    }

    /// Builds the cluster, and a client beside its own. They share connections only if this builder was given a client and not a configuration.
    pub(crate) async fn build_with_second_client(self) -> Result<(Cluster, kube::Client), ClusterError> {
        let metered = self.metered();
        let connection = self.connection.settle().await?;
        let (kube, second) = (connection.client(&metered)?, connection.client(&metered)?);
        Ok((Self::built(kube, self.cache, self.field_manager), second))
    }

    fn built(kube: kube::Client, cache: CacheOptions, field_manager: Option<String>) -> Cluster {
        let cache = Cache::new(kube.clone(), cache);
        let mut client = Client::new(kube.clone(), cache.clone());
        if let Some(field_manager) = field_manager {
            client = client.with_field_manager(field_manager);
        }
        Cluster { kube, cache, client }
    }
}

impl Connection {
    async fn settle(self) -> Result<Settled, ClusterError> {
        Ok(match self {
            Self::Client(client) => Settled::Client(client),
            Self::Config(config) => Settled::Config(config),
            Self::Inferred => {
                let config =
                    Config::infer().await.map_err(|error| ClusterError::NotFound(Box::new(error)))?;
                Settled::Config(Box::new(config))
            }
        })
    }
}

/// A connection that says where it leads.
enum Settled {
    Config(Box<Config>),
    Client(kube::Client),
}

impl Settled {
    fn client(&self, metered: &Metered) -> Result<kube::Client, ClusterError> {
        match self {
            Self::Client(client) => Ok(client.clone()),
            Self::Config(config) => connect(Config::clone(config), metered),
        }
    }
}

/// kube's own retries are off: they repeat requests that may have been carried out, creations among them (kube-rs/kube#2082).
fn connect(mut config: Config, metered: &Metered) -> Result<kube::Client, ClusterError> {
    config.default_retry = false;
    let host = config.cluster_url.authority().map_or_else(String::new, ToString::to_string);
    let mut metrics = RestClientMetrics::new(&metered.registry, host);
    if metered.in_detail {
        metrics = metrics.with_durations_and_sizes(&metered.registry);
    }
    let client = ClientBuilder::try_from(config).map_err(|error| ClusterError::Client(Box::new(error)))?;
    Ok(client.with_layer(&metrics).build())
}

/// Where requests are counted, and whether they are measured, too.
struct Metered {
    registry: Registry,
    in_detail: bool,
}

impl fmt::Debug for ClusterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterBuilder").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// A cluster cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// There is no cluster to talk to; who runs the process has to name one.
    #[error("failed to find a cluster: set KUBECONFIG, or run inside of one")]
    NotFound(#[source] Box<kube::config::InferConfigError>),
    /// The configuration of the client is not usable.
    #[error("failed to make a client")]
    Client(#[source] Box<kube::Error>),
}

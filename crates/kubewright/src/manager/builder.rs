//! Says what a manager is made of.

use std::{collections::HashSet, fmt, time::Duration};

use kube::Config;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{Manager, ManagerError, Phase, Shared, State};
use crate::{
    cache::{Cache, CacheOptions},
    client::Client,
    controller::ControllerOptions,
};

/// Builds a [`Manager`].
#[must_use = "a manager that is not built does nothing"]
pub struct ManagerBuilder {
    connection: Connection,
    cache: CacheOptions,
    controller_defaults: ControllerOptions,
    field_manager: Option<String>,
    graceful_shutdown_timeout: Duration,
}

enum Connection {
    Inferred,
    Config(Box<Config>),
    Client(kube::Client),
}

impl ManagerBuilder {
    pub(super) fn new() -> Self {
        Self {
            connection: Connection::Inferred,
            cache: CacheOptions::default(),
            controller_defaults: ControllerOptions::default(),
            field_manager: None,
            graceful_shutdown_timeout: Duration::from_secs(30),
        }
    }

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

    /// What controllers start from, before their own options.
    pub fn controller_defaults(mut self, options: ControllerOptions) -> Self {
        self.controller_defaults = options;
        self
    }

    /// Who writes, in `metadata.managedFields`. Default: the user agent's name.
    pub fn field_manager(mut self, name: impl Into<String>) -> Self {
        self.field_manager = Some(name.into());
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
    /// [`ManagerError::Config`] if no cluster can be found, [`ManagerError::Client`] if its configuration is not usable.
    pub async fn build(self) -> Result<Manager, ManagerError> {
        let kube = match self.connection {
            Connection::Client(client) => client,
            Connection::Config(config) => connect(*config)?,
            Connection::Inferred => {
                connect(Config::infer().await.map_err(|error| ManagerError::Config(Box::new(error)))?)?
            }
        };
        let cache = Cache::new(kube.clone(), self.cache);
        let mut client = Client::new(kube.clone(), cache.clone());
        if let Some(field_manager) = self.field_manager {
            client = client.with_field_manager(field_manager);
        }
        let state = State { controller_names: HashSet::new(), phase: Phase::Fresh(Vec::new()) };
        let shared = Shared {
            kube,
            cache,
            client,
            controller_defaults: self.controller_defaults,
            graceful_shutdown_timeout: self.graceful_shutdown_timeout,
            elected: CancellationToken::new(),
            state: Mutex::new(state),
        };
        Ok(Manager { shared: shared.into() })
    }
}

/// kube's own retries are off: they repeat requests that may have been carried out, creations among them (kube-rs/kube#2082).
fn connect(mut config: Config) -> Result<kube::Client, ManagerError> {
    config.default_retry = false;
    kube::Client::try_from(config).map_err(|error| ManagerError::Client(Box::new(error)))
}

impl fmt::Debug for ManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagerBuilder").field("cache", &self.cache).finish_non_exhaustive()
    }
}

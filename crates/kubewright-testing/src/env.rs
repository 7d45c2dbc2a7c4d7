//! An API server for one test.

use std::{fmt, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright::{
    cache::{Cache, CacheOptions},
    client::Client,
    error_chain,
    manager::{Manager, ManagerBuilder},
    object::{Object, ObjectKey},
};
use kubewright_apiserver::{
    ApiServer, ApiServerBuilder, Clock, Controllers, RunningControllers, VirtualClock,
};
use serde::Serialize;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{RunningManager, failures::Failures};

/// An embedded API server, a client of it, and a cache to wait for facts with.
///
/// Methods panic instead of returning errors: a test has nothing better to do. Everything ends when the environment is dropped.
pub struct TestEnv {
    server: ApiServer,
    kube: kube::Client,
    pub(crate) client: Client,
    pub(crate) timeout: Duration,
    pub(crate) failures: Failures,
    // Both end when the environment is dropped.
    _controllers: Option<RunningControllers>,
    _tasks: JoinSet<()>,
}

/// Says what a [`TestEnv`] is like.
#[derive(Debug)]
#[must_use = "an environment that is not started does nothing"]
pub struct TestEnvBuilder {
    server: ApiServerBuilder,
    timeout: Duration,
    controllers: Option<Controllers>,
}

impl TestEnv {
    /// An environment as most tests want it.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// An environment that differs from the usual one.
    pub fn builder() -> TestEnvBuilder {
        TestEnvBuilder {
            server: ApiServer::builder().clock(VirtualClock::starting_at(Timestamp::now())),
            timeout: Duration::from_secs(30),
            controllers: None,
        }
    }

    /// The API server.
    pub fn server(&self) -> &ApiServer {
        &self.server
    }

    /// The wall time of the environment, by which the API server writes its timestamps. Hand it to a reconciler that compares with them, and all
    /// agree.
    ///
    /// It starts at the time of the machine and passes as `tokio::time` does: on paused time it moves by what the test advances.
    ///
    /// # Example: an hour later
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubewright::object::ObjectKey;
    /// use kubewright_testing::TestEnv;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let env = TestEnv::start().await;
    /// let key = ObjectKey::new("default", "a");
    /// let stored = env.create(&ConfigMap { metadata: env.meta(&key), ..ConfigMap::default() }).await;
    /// tokio::time::advance(std::time::Duration::from_secs(3600)).await;
    /// let age = env.clock().now().duration_since(stored.metadata.creation_timestamp.unwrap().0);
    /// assert_eq!(age.as_hours(), 1);
    /// # }
    /// ```
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.server.clock()
    }

    /// A client of the API server, with every permission.
    pub fn kube(&self) -> kube::Client {
        self.kube.clone()
    }

    /// A manager that talks to the API server; the test adds what it needs and runs it with [`run`](Self::run).
    pub fn manager(&self) -> ManagerBuilder {
        Manager::builder().kube_client(self.kube())
    }

    /// Runs a manager until it is stopped or dropped.
    pub fn run(&self, manager: Manager) -> RunningManager {
        RunningManager::start(manager, &self.failures)
    }

    /// The metadata of an object that is to be created.
    pub fn meta(&self, key: &ObjectKey) -> ObjectMeta {
        ObjectMeta {
            name: Some(key.name().to_owned()),
            namespace: key.namespace().map(ToOwned::to_owned),
            ..ObjectMeta::default()
        }
    }

    /// Creates an object and gives it back as it was stored.
    ///
    /// # Panics
    /// If the API server refuses it.
    #[track_caller]
    pub fn create<K: Object + Serialize>(&self, object: &K) -> impl Future<Output = K> {
        let caller = std::panic::Location::caller();
        async move {
            match self.client.create(object).await {
                Ok(stored) => stored,
                Err(error) => panic!("{caller}: {}", error_chain(&error)),
            }
        }
    }

    /// Deletes an object.
    ///
    /// # Panics
    /// If the API server refuses that.
    #[track_caller]
    pub fn delete<K: Object>(&self, key: &ObjectKey) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            if let Err(error) = self.client.delete::<K>(key, &kube::api::DeleteParams::default()).await {
                panic!("{caller}: {}", error_chain(&error));
            }
        }
    }
}

impl TestEnvBuilder {
    /// What the API server is like: its clock, its seed, how much history it keeps.
    ///
    /// Default: [`ApiServer::builder`] with the clock of [`TestEnv::clock`].
    pub fn server(mut self, server: ApiServerBuilder) -> Self {
        self.server = server;
        self
    }

    /// How long waits may take before the test fails.
    ///
    /// Default: 30 s of the test's own time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs what a real cluster has beside its API server: garbage collection, the end of namespaces, a stand-in that makes Deployments
    /// available.
    ///
    /// Default: none of them, as in Go's envtest: what an owner leaves behind stays.
    pub fn controllers(mut self, controllers: Controllers) -> Self {
        self.controllers = Some(controllers);
        self
    }

    /// Starts the API server.
    ///
    /// # Panics
    /// The environment's own task panics if its cache fails, which is a bug of kubewright.
    pub async fn start(self) -> TestEnv {
        let server = self.server.build();
        let kube = kube::Client::new(server.service(), "default");
        let cache = Cache::new(kube.clone(), CacheOptions::default());
        let client = Client::new(kube.clone(), cache.clone());
        let mut tasks = JoinSet::new();
        let running = cache.start(CancellationToken::new());
        tasks.spawn(async move {
            if let Err(error) = running.await {
                panic!("the test's own cache failed: {error}");
            }
        });
        let controllers = match self.controllers {
            Some(controllers) => Some(server.start_controllers(controllers).await),
            None => None,
        };
        TestEnv {
            server,
            kube,
            client,
            timeout: self.timeout,
            failures: Failures::default(),
            _controllers: controllers,
            _tasks: tasks,
        }
    }
}

impl fmt::Debug for TestEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestEnv").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

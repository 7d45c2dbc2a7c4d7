//! The server: what all requests share, and its builder.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use jiff::Timestamp;
use kube::Client;
use tokio::sync::watch;

use crate::{
    auth::{AlwaysAllow, Authorizer, Everybody, Recordings, RequestRecorder},
    clock::{Clock, SystemClock, VirtualClock},
    controllers::{Controllers, RunningControllers},
    door::{ApiService, DoorOptions, ListenError, ListenOptions, Listener, Shared},
    fault::Faults,
    identity::Identity,
    registry::{Cluster, ClusterOptions},
    storage::Limits,
    webhook::ServiceRoute,
};

/// A Kubernetes API server.
///
/// Clones are handles on the same server. What it stores lives as long as any handle, service or listener of it.
///
/// # Example: a client without a socket
/// ```
/// use k8s_openapi::api::core::v1::Namespace;
/// use kube::{Api, Client};
/// use kubewright_apiserver::ApiServer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), kube::Error> {
/// let server = ApiServer::builder().build();
/// let client = Client::new(server.service(), "default");
/// let namespaces: Api<Namespace> = Api::all(client);
/// assert!(namespaces.get("kube-system").await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ApiServer {
    shared: Arc<Shared>,
}

impl ApiServer {
    /// A builder with the defaults.
    pub fn builder() -> ApiServerBuilder {
        ApiServerBuilder::default()
    }

    /// The first door: the server as a [`tower_service::Service`], for `kube::Client::new`.
    ///
    /// Whoever calls it is an administrator. It works on paused time, and it needs no task of its own.
    pub fn service(&self) -> ApiService {
        ApiService::new(&self.shared, DoorOptions::in_process(vec![Box::new(Everybody)]))
    }

    /// The second door: listens on a TCP port, until the [`Listener`] is shut down or dropped.
    ///
    /// # Errors
    /// [`ListenError`] when the address cannot be bound or the certificates cannot be made.
    pub async fn listen(&self, options: ListenOptions) -> Result<Listener, ListenError> {
        Listener::start(self.shared.clone(), options).await
    }

    /// Starts controllers beside the server. They run until the handle is shut down or dropped.
    ///
    /// # Example: a Deployment that becomes available
    /// ```
    /// use futures::TryStreamExt;
    /// use k8s_openapi::api::apps::v1::Deployment;
    /// use kube::{Api, Client, api::{PostParams, WatchEvent, WatchParams}};
    /// use kubewright_apiserver::{ApiServer, Controllers};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = ApiServer::builder().build();
    /// let controllers = server.start_controllers(Controllers::default()).await;
    ///
    /// let deployments: Api<Deployment> = Api::default_namespaced(Client::new(server.service(), "default"));
    /// let mut events = Box::pin(deployments.watch(&WatchParams::default(), "0").await?);
    /// let deployment: Deployment = serde_json::from_value(serde_json::json!({
    ///     "metadata": {"name": "web"},
    ///     "spec": {
    ///         "selector": {"matchLabels": {"app": "web"}},
    ///         "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    ///     },
    /// }))?;
    /// deployments.create(&PostParams::default(), &deployment).await?;
    /// while let Some(event) = events.try_next().await? {
    ///     let WatchEvent::Modified(deployment) = event else { continue };
    ///     assert_eq!(deployment.status.and_then(|status| status.available_replicas), Some(1));
    ///     break;
    /// }
    /// controllers.shutdown().await;
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::unused_async, reason = "the tasks need a runtime, and whoever awaits has one")]
    pub async fn start_controllers(&self, controllers: Controllers) -> RunningControllers {
        let client = Client::new(self.service(), "default");
        let root_certificate = self.shared.root_certificate.subscribe();
        RunningControllers::start(&client, &self.shared.cluster.clock, root_certificate, controllers)
    }

    /// What the server takes the time from: for whatever else in a test has to agree with its timestamps.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.shared.cluster.clock.clone()
    }

    /// The plan of faults.
    pub fn faults(&self) -> Faults {
        self.shared.faults.clone()
    }

    /// Records what the server is asked, at both doors, until the handle is dropped.
    pub fn record_requests(&self) -> RequestRecorder {
        self.shared.recordings.start()
    }

    /// Says where the webhooks behind a Service are. Those of a Service without a route cannot be called.
    pub fn route_service(&self, namespace: &str, name: &str, route: ServiceRoute) {
        self.shared.cluster.caller.route_service(namespace, name, route);
    }

    /// Forgets the history of all resources, as etcd does every five minutes.
    ///
    /// Watches that are not up to date, and those that start from an older version, get 410 `Expired`; so do
    /// lists that go on with a token.
    pub fn compact(&self) {
        self.shared.cluster.store.compact();
    }

    #[cfg(test)]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The newest resource version. A new server starts at the microseconds since 1970 that its clock says.
    pub fn resource_version(&self) -> u64 {
        self.shared.cluster.store.revision()
    }
}

/// Builds an [`ApiServer`].
#[derive(Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ApiServerBuilder {
    clock: Option<Arc<dyn Clock>>,
    seed: Option<u64>,
    authorizer: Arc<dyn Authorizer>,
    limits: Limits,
    bookmark_interval: Duration,
}

impl Default for ApiServerBuilder {
    fn default() -> Self {
        Self {
            clock: None,
            seed: None,
            authorizer: Arc::new(AlwaysAllow),
            limits: Limits { events_per_prefix: EVENTS_PER_RESOURCE, log_bytes: HISTORY_BYTES },
            bookmark_interval: DEFAULT_BOOKMARK_INTERVAL,
        }
    }
}

impl ApiServerBuilder {
    /// Where timestamps come from. Default: [`SystemClock`]; with a [`seed`](Self::seed) a [`VirtualClock`] that
    /// starts at 2026-01-01.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Makes UIDs, generated names and timeouts repeat themselves from run to run. Default: random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Who decides what callers may do. Default: [`AlwaysAllow`].
    pub fn authorizer(mut self, authorizer: impl Authorizer + 'static) -> Self {
        self.authorizer = Arc::new(authorizer);
        self
    }

    /// How many events each resource remembers. Watches that fall further behind get 410 `Expired`.
    ///
    /// Default: 10 000.
    pub fn events_per_resource(mut self, events: NonZeroUsize) -> Self {
        self.limits.events_per_prefix = events.get();
        self
    }

    /// How many bytes of former states all resources together remember. The oldest go first.
    ///
    /// Default: 32 MiB. What is older than five to ten minutes goes in any case, as etcd compacts it.
    pub fn history_bytes(mut self, bytes: NonZeroUsize) -> Self {
        self.limits.log_bytes = bytes.get();
        self
    }

    /// How often watches that allow bookmarks get one. Default: 60 s.
    ///
    /// Source: apiserver `storage/cacher.bookmarkFrequency` is "about a minute".
    pub fn bookmark_interval(mut self, interval: Duration) -> Self {
        self.bookmark_interval = interval;
        self
    }

    /// The server, with what every cluster has: four namespaces and the Service `kubernetes`.
    #[must_use]
    pub fn build(self) -> ApiServer {
        let identity = self.seed.map_or_else(Identity::random, Identity::seeded);
        let clock = self.clock.unwrap_or_else(|| match self.seed {
            None => Arc::new(SystemClock),
            Some(_) => Arc::new(VirtualClock::starting_at(SEEDED_EPOCH)),
        });
        let cluster = Cluster::new(ClusterOptions {
            limits: self.limits,
            clock,
            identity,
            bookmark_interval: self.bookmark_interval,
        });
        let shared = Arc::new(Shared {
            cluster: Arc::new(cluster),
            authorizer: self.authorizer,
            recordings: Arc::new(Recordings::default()),
            faults: Faults::default(),
            root_certificate: watch::Sender::default(),
        });
        ApiServer { shared }
    }
}

const EVENTS_PER_RESOURCE: usize = 10_000;
const HISTORY_BYTES: usize = 32 << 20;
const DEFAULT_BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);
/// 2026-01-01T00:00:00Z.
const SEEDED_EPOCH: Timestamp = Timestamp::constant(1_767_225_600, 0);

#[cfg(test)]
mod tests {
    use http::{Method, Request, StatusCode};
    use http_body_util::{BodyExt, Full};
    use serde_json::Value;
    use tower_service::Service;

    use super::*;
    use crate::{object::Draft, storage::Key};

    const PATH: &str = "/api/v1/namespaces/default/configmaps";

    async fn ask(server: &ApiServer, method: Method, path: &str, table: bool) -> (StatusCode, Value) {
        let accept = if table { "application/json;as=Table;v=v1;g=meta.k8s.io" } else { "application/json" };
        let request = Request::builder().method(method).uri(format!("{PATH}{path}")).header("accept", accept);
        let request = request.body(Full::<bytes::Bytes>::default()).unwrap();
        let (parts, body) = server.service().call(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts.status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    #[tokio::test]
    async fn what_cannot_be_read_from_the_store_is_neither_empty_nor_deleted() {
        let server = ApiServer::builder().build();
        let kind = server.shared.cluster.served().find("", "v1", "configmaps").unwrap().clone();
        let key = Key::new("default", "broken");
        let draft = Draft::new(br#"{"metadata":{"resourceVersion":""},"data":["#.to_vec(), 32, 12..34);
        server.shared.cluster.store.create(&kind.prefix, &key, &draft, &[]).unwrap();

        for (method, path, table) in [
            (Method::DELETE, "/broken", false),
            (Method::DELETE, "", false),
            (Method::GET, "", true),
            (Method::GET, "/broken", true),
        ] {
            let (code, status) = ask(&server, method, path, table).await;
            assert_eq!(
                (code, &status["reason"]),
                (StatusCode::INTERNAL_SERVER_ERROR, &"InternalError".into())
            );
            assert!(server.shared.cluster.store.get(&kind.prefix, &key).is_some());
        }
        let unread = "/broken?ignoreStoreReadErrorWithClusterBreakingPotential=true";
        assert_eq!(ask(&server, Method::DELETE, unread, false).await.0, StatusCode::OK);
        assert!(server.shared.cluster.store.get(&kind.prefix, &key).is_none());
    }
}

//! The server that the API server calls: HTTP/1.1 over TLS, with a certificate that may change while it runs.

mod calls;
mod options;
mod provider;

use std::{borrow::Cow, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;
use thiserror::Error;
use tokio::{net::TcpListener, sync::watch};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

pub use options::WebhookServerOptions;

use self::{
    calls::{Calls, Route},
    provider::{Provider, Trouble},
};
use super::{
    WebhookAddress, WebhookConfigurations,
    authentication::{AuthenticationEndpoint, Authenticator},
    conversion::{CONVERT_PATH, Families},
    declaration::Declared,
    metrics::{PathMetrics, conversion_panics},
};
use crate::{
    BoxError, error,
    healthz::Check,
    http_server::{
        Budget, CertificateReads, Endpoint, Mounted, RegisterError, Routes, Serving, Shown, TlsError,
        server_config,
    },
    manager::{Group, Runnable},
    metrics::Registry,
};

/// An HTTPS server for webhooks. Clones are handles of one server; a manager runs it on every replica.
///
/// The certificate is read from a folder again and again, so that a renewed one is shown to the next connection. Without one the server listens, refuses every
/// handshake, and is not [`ready`](Self::ready).
///
/// # Example: a server with a service of one's own
/// ```no_run
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::Full;
/// use kubewright::{manager::Manager, webhook::WebhookServer};
///
/// # async fn example(echo: impl tower_service::Service<Request<Full<Bytes>>, Response = Response<Full<Bytes>>, Error = std::convert::Infallible, Future: Send> + Clone + Send + Sync + 'static) -> anyhow::Result<()> {
/// let manager = Manager::builder().build().await?;
/// let server = WebhookServer::default();
/// server.register("/echo", echo)?;
/// manager.add(server)?;
/// # Ok(())
/// # }
/// ```
///
/// # Differences from Go
/// Files that are missing at the start are no error: whoever writes them may be later than we are. HTTP/2 is not offered unless asked for
/// (feature `http2`), and then a client that resets its streams is cut off (CVE-2023-44487). Bodies have a deadline.
///
/// Source: controller-runtime `webhook.Server`.
#[derive(Clone, Debug)]
pub struct WebhookServer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: Arc<WebhookServerOptions>,
    routes: Routes<Route>,
    shown: Arc<Shown>,
    trouble: Trouble,
    declared: Mutex<Vec<Declared>>,
    families: Mutex<Option<Families>>,
    address: watch::Sender<Option<SocketAddr>>,
}

/// Why a webhook server does not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be bound; the caller chooses another one.
    #[error("failed to listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Connections cannot be protected.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Why the API server could not call this server now.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NotReady {
    /// It does not listen: not started yet, or stopped.
    #[error("webhook server is not listening")]
    NotListening,
    /// It has no certificate that a client would accept. The text gives the reason with its causes.
    #[error("webhook server has no valid certificate: {0}")]
    Certificate(String),
    /// It manages its certificates itself, and could not have the API server trust them. The text gives the reason with its causes.
    #[error("webhook server is not trusted: {0}")]
    Untrusted(String),
}

impl WebhookServer {
    /// A server that listens when it is started.
    pub fn new(options: WebhookServerOptions) -> Self {
        let shared = Shared {
            shown: Arc::new(Shown::new(options.metrics_registry.shared::<CertificateReads>())),
            options: Arc::new(options),
            routes: Routes::default(),
            trouble: Trouble::default(),
            declared: Mutex::default(),
            families: Mutex::default(),
            address: watch::Sender::new(None),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Mounts a tower service at a path, before or after the start. It is counted under that path, and what it panics of is contained.
    ///
    /// Bodies are read before it is called, and are at most 7 MiB long.
    ///
    /// # Errors
    /// [`RegisterError`] if the path is taken or is none.
    pub fn register<S, B>(&self, path: &str, service: S) -> Result<(), RegisterError>
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        self.mount(path, Arc::new(Mounted(service)))
    }

    /// Says at a path whose tokens are, as the API server asks with `--authentication-token-webhook-config-file`.
    ///
    /// # Errors
    /// [`RegisterError`] if the path is taken or is none.
    pub fn register_authenticator(
        &self,
        path: &str,
        authenticator: impl Authenticator,
    ) -> Result<(), RegisterError> {
        self.mount(path, Arc::new(AuthenticationEndpoint::new(authenticator)))
    }

    /// The kinds that are converted at `/convert`, which is mounted for the first of them.
    pub(super) fn families(&self) -> Result<Families, RegisterError> {
        let mut kept = self.shared.families.lock();
        if let Some(families) = &*kept {
            return Ok(families.clone());
        }
        let families = Families::new(conversion_panics(self.metrics_registry()));
        self.mount(CONVERT_PATH, Arc::new(families.clone()))?;
        Ok(kept.insert(families).clone())
    }

    pub(super) fn mount(&self, path: &str, endpoint: Arc<dyn Endpoint>) -> Result<(), RegisterError> {
        let metrics = PathMetrics::new(self.metrics_registry(), path);
        self.shared.routes.add(path, Route { endpoint, metrics })
    }

    pub(super) fn note_declared(&self, declared: Declared) {
        self.shared.declared.lock().push(declared);
    }

    /// What has the API server call the webhooks that are registered here: to be printed for `kubectl apply -f -`, or to be created by a test.
    ///
    /// # Example: an operator that prints its configurations
    /// ```
    /// # use std::convert::Infallible;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubewright::webhook::{Webhook, WebhookAddress, WebhookServer, admission::Validator};
    ///
    /// # struct Anything;
    /// # impl Validator<ConfigMap> for Anything { type Error = Infallible; }
    /// let server = WebhookServer::default();
    /// Webhook::<ConfigMap>::builder().validator(Anything).register(&server)?;
    /// let service = WebhookAddress::Service { namespace: "system".into(), name: "webhook-service".into() };
    /// let validating = server.configurations("maps", &service).validating.unwrap();
    /// assert_eq!(validating.metadata.name.as_deref(), Some("maps-validating-webhook-configuration"));
    /// println!("{}", serde_json::to_string_pretty(&validating)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Differences from Go
    /// kubebuilder reads them from comments beside the code.
    pub fn configurations(&self, name: &str, address: &WebhookAddress) -> WebhookConfigurations {
        WebhookConfigurations::new(name, address, &self.shared.declared.lock())
    }

    /// Answers a request without a socket, whether the server runs or not: for tests, on paused time as well.
    ///
    /// Limits on bytes and time hold as they do for others, and it is counted like any other.
    pub async fn call(&self, request: Request<Bytes>) -> Response<Bytes> {
        let answer = self.calls().answer_any(request.map(Full::new)).await;
        let (parts, body) = answer.into_parts();
        let Ok(body) = body.collect().await;
        Response::from_parts(parts, body.to_bytes())
    }

    fn calls(&self) -> Calls {
        let options = self.shared.options.clone();
        Calls {
            routes: self.shared.routes.clone(),
            budget: Budget::new(options.max_bytes_in_flight),
            options,
        }
    }

    pub(super) fn metrics_registry(&self) -> &Registry {
        &self.shared.options.metrics_registry
    }

    /// Waits until the server listens, and says where.
    pub async fn listening(&self) -> SocketAddr {
        let mut address = self.shared.address.subscribe();
        let found = address.wait_for(Option::is_some).await.ok().and_then(|address| *address);
        // The sender lives in `self`.
        match found {
            Some(address) => address,
            None => std::future::pending().await,
        }
    }

    /// Whether the API server could call this server now.
    ///
    /// # Errors
    /// [`NotReady`] with the reason: it does not listen, or has no certificate, or one that has expired, or one that the API server could not be told to trust.
    /// It does not wait for webhook configurations that do not exist yet, so that they may be applied after the operator is ready.
    ///
    /// Source: controller-runtime `webhook.Server.StartedChecker`, which accepts any certificate.
    pub fn ready(&self) -> Result<(), NotReady> {
        if self.shared.address.borrow().is_none() {
            return Err(NotReady::NotListening);
        }
        let trouble = &self.shared.trouble;
        let refused = |reason: &_| trouble.failed().unwrap_or_else(|| error::chain(reason));
        self.shared.shown.check(Timestamp::now(), |reason| NotReady::Certificate(refused(reason)))?;
        trouble.untrusted().map_or(Ok(()), |reason| Err(NotReady::Untrusted(reason)))
    }

    /// Serves until `cancel` fires, then lets the requests finish that it has.
    ///
    /// # Errors
    /// [`ServeError`] if it cannot listen.
    ///
    /// # Cancel safety
    /// Dropped, it closes all connections at once.
    pub async fn start(self, cancel: CancellationToken) -> Result<(), ServeError> {
        let options = self.shared.options.clone();
        let bind = |source| ServeError::Bind { address: options.address, source };
        let mut provider = Provider::new(&options);
        let wait = self.look(&mut provider).await;
        let client_ca = options.client_ca.as_ref().map(|path| options.certificate_directory.join(path));
        let tls = server_config(self.shared.shown.clone(), client_ca.as_deref(), options.protocols()).await?;
        let listener = TcpListener::bind(options.address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let serving = Serving {
            handler: self.calls(),
            limits: options.limits(),
            tls: Some(TlsAcceptor::from(Arc::new(tls))),
            closing: cancel,
        };
        tracing::info!(%address, "serving webhooks");
        self.shared.address.send_replace(Some(address));
        let _listening = Listening(&self.shared);
        let serving = serving.accept(listener);
        tokio::pin!(serving);
        tokio::select! {
            () = &mut serving => {}
            // It goes on while the server drains.
            never = self.keep_looking(provider, wait) => match never {},
        }
        Ok(())
    }

    async fn keep_looking(&self, mut provider: Provider, mut wait: Duration) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(wait).await;
            wait = self.look(&mut provider).await;
        }
    }

    async fn look(&self, provider: &mut Provider) -> Duration {
        provider.look(&self.shared.options, &self.shared.shown, &self.shared.trouble).await
    }
}

impl Default for WebhookServer {
    fn default() -> Self {
        Self::new(WebhookServerOptions::default())
    }
}

impl Runnable for WebhookServer {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        Ok(Self::start(self, cancel).await?)
    }

    fn needs_leader_election(&self) -> bool {
        false
    }

    fn group(&self) -> Group {
        Group::Webhooks
    }

    fn started(&self) -> impl Future<Output = Result<(), BoxError>> + Send + 'static {
        let server = self.clone();
        async move {
            server.listening().await;
            Ok(())
        }
    }

    fn name(&self) -> Cow<'static, str> {
        "webhook server".into()
    }
}

impl Check for WebhookServer {
    async fn check(&self) -> Result<(), BoxError> {
        Ok(self.ready()?)
    }
}

/// Whoever asks is told that the server is gone, however it ended.
struct Listening<'a>(&'a Shared);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.address.send_replace(None);
    }
}

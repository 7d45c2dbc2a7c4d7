//! A server of some paths.

use std::{borrow::Cow, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::{
    Answer, BindAddress, Budget, CertificateReads, Certificates, Endpoint, Handler, Limits, Mounted,
    Protocols, RegisterError, Routes, Serving, TlsError, bound::Bound, certificates::Tls, text,
};
use crate::BoxError;

/// An HTTP server, with any tower service behind its paths. Clones are handles of one server.
///
/// Added to a manager, it runs with it: before caches and webhooks on every replica, or on the leader alone.
///
/// # Example: a page of one's own
/// ```
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::Full;
/// use kubewright::http_server::{BindAddress, HttpServer, HttpServerOptions};
///
/// # fn example(page: impl tower_service::Service<Request<Full<Bytes>>, Response = Response<Full<Bytes>>, Error = std::convert::Infallible, Future: Send> + Clone + Send + Sync + 'static, manager: &kubewright::manager::Manager) -> anyhow::Result<()> {
/// let mut options = HttpServerOptions::default();
/// options.address = BindAddress::port(8082);
/// let server = HttpServer::new("pages", options);
/// server.mount("/about", page)?;
/// manager.add(server)?;
/// # Ok(())
/// # }
/// ```
///
/// Source: controller-runtime `manager.Server`.
#[derive(Clone, Debug)]
pub struct HttpServer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    name: Cow<'static, str>,
    options: HttpServerOptions,
    routes: Routes<Arc<dyn Endpoint>>,
    bound: Bound,
    certificate_reads: CertificateReads,
}

/// How an [`HttpServer`] listens, and what it refuses.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpServerOptions {
    /// Where to listen. Default: [`BindAddress::OFF`], the server does nothing.
    pub address: BindAddress,
    /// With what connections are protected. Default: `None`, not at all.
    pub certificates: Option<Certificates>,
    /// Whether clients may choose HTTP/2, where connections are over TLS. Default: `false`.
    ///
    /// All requests of a connection are then answered in one task. A client that takes back more requests than are answered is cut off.
    #[cfg(feature = "http2")]
    pub http2: bool,
    /// Whether it listens on the leader alone. Default: `false`.
    pub needs_leader_election: bool,
    /// How many connections are served at once; more wait to be accepted. Default: 128.
    pub max_connections: usize,
    /// How many bytes of bodies are held at once, over all connections; more wait for `body_timeout`. Default: 16 MiB.
    pub max_bytes_in_flight: usize,
    /// Until when a request's headers have to be there; an idle connection is closed after it, too. Default: 32 s, as upstream's.
    pub header_timeout: Duration,
    /// Until when a request's body has to be there. Default: 30 s.
    pub body_timeout: Duration,
    /// How long a stopping server waits for the requests that it has. Default: 1 min; the manager's grace period may be shorter.
    pub drain_timeout: Duration,
}

impl Default for HttpServerOptions {
    fn default() -> Self {
        Self {
            address: BindAddress::OFF,
            certificates: None,
            #[cfg(feature = "http2")]
            http2: false,
            needs_leader_election: false,
            max_connections: 128,
            max_bytes_in_flight: 16 << 20,
            header_timeout: Duration::from_secs(32),
            body_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(60),
        }
    }
}

/// Why a server does not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HttpServerError {
    /// The address cannot be bound; who runs the process chooses another one.
    #[error("failed to listen on {address}")]
    Bind {
        /// The address.
        address: BindAddress,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Connections cannot be protected.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl HttpServer {
    /// A server that listens when it is started. `name` is for logs and errors.
    pub fn new(name: impl Into<Cow<'static, str>>, options: HttpServerOptions) -> Self {
        Self::counted(name, options, CertificateReads::default())
    }

    /// As [`new`](Self::new); reads of the certificate are counted where somebody sees them.
    pub(crate) fn counted(
        name: impl Into<Cow<'static, str>>,
        options: HttpServerOptions,
        certificate_reads: CertificateReads,
    ) -> Self {
        let (routes, bound) = (Routes::default(), Bound::default());
        Self { shared: Arc::new(Shared { name: name.into(), options, routes, bound, certificate_reads }) }
    }

    /// The name in logs and errors.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// How it listens, and what it refuses.
    pub fn options(&self) -> &HttpServerOptions {
        &self.shared.options
    }

    /// Mounts a tower service at a path, before or after the start. A path that ends with a slash stands for everything below it that has no service of its own.
    ///
    /// Bodies are read before the service is called, and are at most 7 MiB long. What it panics of is contained.
    ///
    /// # Errors
    /// [`RegisterError`] if the path is taken or is none.
    pub fn mount<S, B>(&self, path: &str, service: S) -> Result<(), RegisterError>
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        self.mount_endpoint(path, Arc::new(Mounted(service)))
    }

    pub(crate) fn mount_endpoint(
        &self,
        path: &str,
        endpoint: Arc<dyn Endpoint>,
    ) -> Result<(), RegisterError> {
        self.shared.routes.add(path, endpoint)
    }

    /// Waits until the server listens, and says where: with port 0, nobody knows before. Pending while it does not.
    pub async fn listening(&self) -> SocketAddr {
        self.shared.bound.wait().await
    }

    /// Serves until `cancel` fires, then lets the requests finish that it has. Returns at once if the address is off.
    ///
    /// # Errors
    /// [`HttpServerError`] if it cannot listen.
    ///
    /// # Cancel safety
    /// Dropped, it closes all connections at once.
    pub async fn start(self, cancel: CancellationToken) -> Result<(), HttpServerError> {
        let Shared { name, options, routes, bound, certificate_reads } = &*self.shared;
        let failed = |source| HttpServerError::Bind { address: options.address.clone(), source };
        let Some(listener) = options.address.bind().await.map_err(failed)? else { return Ok(()) };
        let tls = match &options.certificates {
            None => None,
            Some(certificates) => {
                Some(Tls::new(certificates.clone(), certificate_reads.clone(), options.protocols()).await?)
            }
        };
        let address = listener.local_addr().map_err(failed)?;
        let pages = Pages {
            routes: routes.clone(),
            budget: Budget::new(options.max_bytes_in_flight),
            body_timeout: options.body_timeout,
        };
        let serving = Serving {
            handler: pages,
            limits: options.limits(),
            tls: tls.as_ref().map(|tls| tls.acceptor.clone()),
            closing: cancel,
        };
        tracing::info!(server = &**name, %address, "starting server");
        let _listening = bound.listens(address);
        let renewed = async {
            match &tls {
                Some(tls) => tls.follow().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = serving.accept(listener) => Ok(()),
            // It goes on while the server drains.
            never = renewed => match never {},
        }
    }
}

impl HttpServerOptions {
    fn limits(&self) -> Limits {
        Limits {
            max_connections: self.max_connections,
            handshake_timeout: self.header_timeout,
            header_timeout: self.header_timeout,
            drain_timeout: self.drain_timeout,
        }
    }

    #[cfg(feature = "http2")]
    fn protocols(&self) -> Protocols {
        if self.http2 { Protocols::Http1And2 } else { Protocols::Http1 }
    }

    #[cfg(not(feature = "http2"))]
    #[expect(clippy::unused_self, reason = "there is nothing to choose from without the feature")]
    fn protocols(&self) -> Protocols {
        Protocols::Http1
    }
}

/// What every connection knows.
#[derive(Clone)]
struct Pages {
    routes: Routes<Arc<dyn Endpoint>>,
    budget: Budget,
    body_timeout: Duration,
}

impl Handler for Pages {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let Some(endpoint) = self.routes.find(request.uri().path()) else {
            return text(StatusCode::NOT_FOUND, "404 page not found".to_owned());
        };
        let (parts, body) = request.into_parts();
        match self.budget.read(body, endpoint.max_body_bytes(), self.body_timeout).await {
            Ok(body) => endpoint.answer(Request::from_parts(parts, body.bytes.clone())).await,
            Err(refused) => endpoint.refuse(&refused),
        }
    }
}

//! The TCP door.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower_service::Service;
use tracing::debug;

use super::{
    certificates::{CertificateError, Certificates, ServingCertificate},
    kubeconfig::kubeconfig,
    service::ApiService,
};
use crate::{auth::Authenticator, server::Shared};

/// How [`ApiServer::listen`](crate::ApiServer::listen) listens.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListenOptions {
    /// Where to listen. Default: `127.0.0.1:0`, any free port.
    pub address: SocketAddr,
    /// How the connection is protected. Default: [`Transport::Tls`].
    pub transport: Transport,
    /// What clients have to say. Default: `None`, a random token.
    pub token: Option<String>,
    /// What the listener shows with TLS. Default: `None`, a certificate from a CA that is made for this listener.
    pub certificate: Option<ServingCertificate>,
    /// CAs in PEM. A client with a certificate from one of them needs no token. Default: none.
    ///
    /// # Differences from Go
    /// A certificate from another CA ends the TLS handshake; kube-apiserver answers 401.
    pub client_ca: Option<String>,
}

/// How a connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// TLS, with the [certificate](ListenOptions::certificate) of the options.
    Tls,
    /// Nothing. Only on loopback addresses, for measurements and for clients that cannot be taught a CA.
    Plain,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            transport: Transport::Tls,
            token: None,
            certificate: None,
            client_ca: None,
        }
    }
}

/// A listening door. Dropping it closes the door and all connections at once.
#[derive(Debug)]
#[must_use = "dropping the listener closes it"]
pub struct Listener {
    address: SocketAddr,
    transport: Transport,
    token: String,
    ca: Option<String>,
    closing: CancellationToken,
    task: JoinSet<()>,
}

/// Why the door could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address cannot be bound; the caller chooses another one.
    #[error("failed to listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Plain HTTP stays on this machine; the caller takes TLS or a loopback address.
    #[error("refusing plain http on {0}, which is no loopback address")]
    PlainBeyondLoopback(SocketAddr),
    /// The certificates could not be made, or those that were given cannot be used.
    #[error("failed to prepare the certificates")]
    Certificates(#[from] CertificateError),
}

impl Listener {
    pub(crate) async fn start(shared: Arc<Shared>, options: ListenOptions) -> Result<Self, ListenError> {
        if options.transport == Transport::Plain && !options.address.ip().is_loopback() {
            return Err(ListenError::PlainBeyondLoopback(options.address));
        }
        let bind = |source| ListenError::Bind { address: options.address, source };
        let listener = TcpListener::bind(options.address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let (acceptor, ca) = match options.transport {
            Transport::Tls => {
                let mut certificates = match &options.certificate {
                    Some(given) => Certificates::given(given)?,
                    None => Certificates::generate(address.ip())?,
                };
                let ca = certificates.ca.take();
                (Some(certificates.acceptor(options.client_ca.as_deref())?), ca)
            }
            Transport::Plain => (None, None),
        };
        let token = options.token.unwrap_or_else(|| shared.identity.uid());
        let closing = CancellationToken::new();
        if let Some(ca) = &ca {
            shared.root_certificate.send_replace(ca.clone());
        }
        let service = ApiService::new(shared, Authenticator::Token(token.clone()), closing.clone());
        let mut task = JoinSet::new();
        task.spawn(accept(listener, acceptor, service, closing.clone()));
        Ok(Self { address, transport: options.transport, token, ca, closing, task })
    }

    /// Where the door is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as a URL, `https://127.0.0.1:43210`.
    pub fn url(&self) -> String {
        let scheme = match self.transport {
            Transport::Tls => "https",
            Transport::Plain => "http",
        };
        format!("{scheme}://{}", self.address)
    }

    /// What clients have to say: `Authorization: Bearer …`.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The certificate of the CA that was made for this listener, in PEM; `None` for plain HTTP and for a certificate that was given.
    pub fn ca_certificate(&self) -> Option<&str> {
        self.ca.as_deref()
    }

    /// A kubeconfig for this door, as YAML.
    pub fn kubeconfig(&self) -> String {
        kubeconfig(&self.url(), self.ca_certificate(), &self.token)
    }

    /// Closes the door: no new connections, watches end, requests that are under way are answered.
    ///
    /// Clients that have not sent their request after 10 s are cut off.
    pub async fn shutdown(mut self) {
        self.closing.cancel();
        while self.task.join_next().await.is_some() {}
    }
}

/// How long a closing door waits for its connections.
const GRACE_PERIOD: Duration = Duration::from_secs(10);
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Accepts connections until the door closes, then waits for those that are open.
async fn accept(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    service: ApiService,
    closing: CancellationToken,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = closing.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, acceptor.clone(), service.clone(), closing.clone()));
                }
                Err(error) => {
                    debug!(%error, "failed to accept a connection");
                    // Out of descriptors, most likely. Connections that end free some.
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            }
        }
    }
    drop(listener);
    let rest = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE_PERIOD, rest).await.is_err() {
        connections.shutdown().await;
    }
}

async fn connection(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    service: ApiService,
    closing: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "failed to set TCP_NODELAY");
    }
    match acceptor {
        None => serve(stream, service, closing).await,
        Some(acceptor) => {
            let handshake = tokio::select! {
                () = closing.cancelled() => return,
                handshake = acceptor.accept(stream) => handshake,
            };
            match handshake {
                Ok(stream) => {
                    // Verified by the handshake: nobody gets here with a certificate of another CA.
                    let known = stream.get_ref().1.peer_certificates().is_some();
                    let service = if known { service.trusting() } else { service };
                    serve(stream, service, closing).await;
                }
                Err(error) => debug!(%error, "failed to shake hands"),
            }
        }
    }
}

/// Serves requests on one connection until the client or the door closes it.
async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, service: ApiService, closing: CancellationToken) {
    let handler = service_fn(move |request| service.clone().call(request));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), handler);
    tokio::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        debug!(%error, "connection ended");
    }
}

//! The TCP door.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rustls::crypto::ring;
use thiserror::Error;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{JoinError, JoinSet},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::{
    certificates::{CertificateError, Certificates, ServingCertificate},
    connection::Serving,
    kubeconfig::kubeconfig,
    layer::InFlight,
    service::{ApiService, DoorOptions},
    shared::Shared,
};
use crate::auth::{Authenticator, BearerToken, Everybody, KnownCertificate, TokenUser};

/// How [`ApiServer::listen`](crate::ApiServer::listen) listens.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListenOptions {
    /// Where to listen. Default: `127.0.0.1:0`, any free port.
    pub address: SocketAddr,
    /// How the connection is protected. Default: [`Transport::Tls`].
    pub transport: Transport,
    /// What clients have to say. Default: `None`, a random token with TLS, and nothing on a plain connection:
    /// kubectl sends no credentials without TLS, and whoever reaches a loopback address is on this machine.
    pub token: Option<String>,
    /// Names and addresses, besides those of this machine's loopback, the listener's own address and the
    /// `kubernetes` Service, that the certificate is for when it is made for this listener. Default: none.
    pub names: Vec<String>,
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
            names: Vec::new(),
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
    /// The system gives no random numbers, of which a token is made.
    #[error("failed to make a token")]
    Token(#[source] rustls::Error),
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
                    None => Certificates::generate(address.ip(), &options.names)?,
                };
                let ca = certificates.ca.take();
                (Some(certificates.acceptor(options.client_ca.as_deref())?), ca)
            }
            Transport::Plain => (None, None),
        };
        let needs_token = options.transport == Transport::Tls || options.token.is_some();
        let token = options.token.map_or_else(random_token, Ok).map_err(ListenError::Token)?;
        let authenticators: Vec<Box<dyn Authenticator>> = if needs_token {
            let of_accounts = TokenUser(shared.cluster.clone());
            vec![Box::new(KnownCertificate), Box::new(of_accounts), Box::new(BearerToken(token.clone()))]
        } else {
            vec![Box::new(Everybody)]
        };
        let closing = CancellationToken::new();
        if let Some(ca) = &ca {
            shared.root_certificate.send_replace(ca.clone());
        }
        let door = DoorOptions { authenticators, in_flight: InFlight::limited(), closing: closing.clone() };
        let service = ApiService::new(&shared, door);
        let mut task = JoinSet::new();
        task.spawn(accept(listener, Serving { service, acceptor, closing: closing.clone() }));
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

    /// What clients have to say: `Authorization: Bearer …`. A plain door asks for it only if it was given.
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

/// A token that nobody can guess, also not from other identifiers that the server has made.
fn random_token() -> Result<String, rustls::Error> {
    let mut bytes = [0; TOKEN_BYTES];
    ring::default_provider().secure_random.fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Accepts connections until the door closes, then waits for those that are open.
async fn accept(listener: TcpListener, serving: Serving) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = serving.closing.cancelled() => break,
            Some(ended) = connections.join_next() => note_panic(ended),
            accepted = next(&listener, &slots) => match accepted {
                Ok((stream, slot)) => {
                    let connection = serving.clone().connection(stream);
                    connections.spawn(async move {
                        connection.await;
                        drop(slot);
                    });
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

/// The next connection, once there is room for one.
async fn next(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
}

fn note_panic(ended: Result<(), JoinError>) {
    if let Err(ended) = ended {
        error!(%ended, "a connection ended in a panic");
    }
}

/// How long a closing door waits for its connections.
const GRACE_PERIOD: Duration = Duration::from_secs(10);
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
/// How many connections are open at once; more wait to be accepted. Each watch has one.
const MAX_CONNECTIONS: usize = 4096;
/// As many as make a guess hopeless.
const TOKEN_BYTES: usize = 32;

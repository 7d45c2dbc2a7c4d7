//! A webhook server, and a client that calls it over TLS as the API server does.

use std::{convert::Infallible, fs, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use kubewright::{
    metrics::Registry,
    webhook::{WebhookServer, WebhookServerOptions},
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore,
    client::WantsClientCert,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Notify,
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tokio_util::sync::CancellationToken;

/// Answers with what it gets; a body `wait` once it is allowed to, a body `panic` never.
#[derive(Clone, Default)]
pub struct Echo {
    pub begun: Arc<Notify>,
    pub go: Arc<Notify>,
}

impl tower_service::Service<Request<Full<Bytes>>> for Echo {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let echo = self.clone();
        Box::pin(async move {
            let body = request.into_body().collect().await?.to_bytes();
            assert_ne!(body, "panic", "as it was told");
            if body == "wait" {
                echo.begun.notify_one();
                echo.go.notified().await;
            }
            Ok(Response::new(Full::new(body)))
        })
    }
}

/// Longer than any test takes: a deadline that is not the one that is judged. Connections are not closed for being idle, either, while
/// somebody waits for their end.
pub const HOUR: Duration = Duration::from_secs(3600);

/// After it, a test that waits fails instead of hanging. Of a machine that has other things to do, too.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// All that a server says until it closes the connection. Whether it announces the end is of no matter.
pub async fn rest(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut got = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut got)).await.expect("the server closes the connection");
    got
}

/// A CA, a folder with a certificate from it, and a server that shows it.
pub struct House {
    pub ca: CertifiedIssuer<'static, KeyPair>,
    pub folder: PathBuf,
    pub server: WebhookServer,
    pub registry: Registry,
    pub echo: Echo,
    pub stop: CancellationToken,
    pub task: JoinSet<()>,
}

impl House {
    pub fn new(change: impl FnOnce(&mut WebhookServerOptions)) -> Self {
        let folder = std::env::temp_dir().join(format!("kubewright-{:016x}", fastrand::u64(..)));
        fs::create_dir(&folder).unwrap();
        let registry = Registry::new();
        let mut options = WebhookServerOptions::default();
        options.address = "127.0.0.1:0".parse().unwrap();
        options.certificate_directory = folder.clone();
        options.metrics_registry = registry.clone();
        options.reload_interval = Duration::from_millis(10);
        change(&mut options);
        let (server, echo) = (WebhookServer::new(options), Echo::default());
        server.register("/echo", echo.clone()).unwrap();
        Self {
            ca: authority(),
            folder,
            server,
            registry,
            echo,
            stop: CancellationToken::new(),
            task: JoinSet::new(),
        }
    }

    /// Writes a certificate for `name`, and its key.
    pub fn write_certificate(&self, name: &str) {
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.ca).unwrap();
        fs::write(self.folder.join("tls.crt"), leaf.pem()).unwrap();
        fs::write(self.folder.join("tls.key"), key.serialize_pem()).unwrap();
    }

    pub async fn start(&mut self) -> SocketAddr {
        let (server, stop) = (self.server.clone(), self.stop.clone());
        self.task.spawn(async move { server.start(stop).await.unwrap() });
        self.server.listening().await
    }

    pub async fn stopped(mut self) {
        self.stop.cancel();
        timeout(PATIENCE, self.task.join_next()).await.unwrap().unwrap().unwrap();
    }

    /// A connection of a client that trusts the CA, wants the server to be `name`, and may show a certificate.
    pub async fn connect(
        &self,
        address: SocketAddr,
        name: &str,
        shown: bool,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let config = self.trusting();
        let config = if shown {
            let key = KeyPair::generate().unwrap();
            let leaf =
                CertificateParams::new(["client".to_owned()]).unwrap().signed_by(&key, &self.ca).unwrap();
            let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
            config.with_client_auth_cert(vec![leaf.der().clone()], key).unwrap()
        } else {
            config.with_no_client_auth()
        };
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from(name.to_owned()).unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// A connection to `hook` for one of these protocols.
    pub async fn connect_with(
        &self,
        address: SocketAddr,
        protocols: &[&[u8]],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut config = self.trusting().with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from("hook").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    fn trusting(&self) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        let mut roots = RootCertStore::empty();
        roots.add(self.ca.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        config.with_root_certificates(roots)
    }

    /// The answer to one request, headers and all.
    pub async fn post(&self, address: SocketAddr, path: &str, body: &str) -> String {
        exchange(self.connect(address, "hook", false).await.unwrap(), path, body).await.unwrap()
    }

    pub fn counted(&self) -> Vec<String> {
        let text = self.registry.text();
        let lines = text.lines().filter(|line| line.starts_with("controller_runtime_webhook_requests"));
        lines.map(|line| line.trim_start_matches("controller_runtime_webhook_requests_").to_owned()).collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

pub async fn exchange(mut stream: TlsStream<TcpStream>, path: &str, body: &str) -> std::io::Result<String> {
    let content_type = "content-type: application/json";
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: hook\r\nconnection: close\r\n{content_type}\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// A connection of a client that trusts `roots` alone.
pub async fn connect(
    roots: &[CertificateDer<'static>],
    address: SocketAddr,
    name: &'static str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(root.clone()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(store).with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(name).unwrap(), stream).await
}

//! A webhook server, called over TLS as the API server calls it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{convert::Infallible, fs, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use kubewright::{
    metrics::Registry,
    webhook::{WebhookServer, WebhookServerOptions, server::RegisterError},
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Notify,
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tokio_util::sync::CancellationToken;

/// Answers with what it gets; a body `wait` once it is allowed to, a body `panic` never.
#[derive(Clone, Default)]
struct Echo {
    begun: Arc<Notify>,
    go: Arc<Notify>,
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

/// A CA, a folder with a certificate from it, and a server that shows it.
struct House {
    ca: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
    server: WebhookServer,
    registry: Registry,
    echo: Echo,
    stop: CancellationToken,
    task: JoinSet<()>,
}

impl House {
    fn new(change: impl FnOnce(&mut WebhookServerOptions)) -> Self {
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
    fn write_certificate(&self, name: &str) {
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.ca).unwrap();
        fs::write(self.folder.join("tls.crt"), leaf.pem()).unwrap();
        fs::write(self.folder.join("tls.key"), key.serialize_pem()).unwrap();
    }

    async fn start(&mut self) -> SocketAddr {
        let (server, stop) = (self.server.clone(), self.stop.clone());
        self.task.spawn(async move { server.start(stop).await.unwrap() });
        self.server.listening().await
    }

    async fn stopped(mut self) {
        self.stop.cancel();
        timeout(Duration::from_secs(20), self.task.join_next()).await.unwrap().unwrap().unwrap();
    }

    /// A connection of a client that trusts the CA, wants the server to be `name`, and may show a certificate.
    async fn connect(
        &self,
        address: SocketAddr,
        name: &str,
        shown: bool,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.ca.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots);
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

    /// The answer to one request, headers and all.
    async fn post(&self, address: SocketAddr, path: &str, body: &str) -> String {
        exchange(self.connect(address, "hook", false).await.unwrap(), path, body).await.unwrap()
    }

    fn counted(&self) -> Vec<String> {
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

async fn exchange(mut stream: TlsStream<TcpStream>, path: &str, body: &str) -> std::io::Result<String> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: hook\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn a_mounted_service_is_called_over_tls_and_counted() {
    let mut house = House::new(|_| {});
    house.write_certificate("hook");
    let address = house.start().await;
    assert!(house.server.ready().is_ok());
    let answer = house.post(address, "/echo", "hello").await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("hello"), "{answer}");
    assert!(house.post(address, "/other", "").await.starts_with("HTTP/1.1 404"));
    // What panics is contained, and the next request is served.
    assert!(house.post(address, "/echo", "panic").await.starts_with("HTTP/1.1 500"));
    // What is mounted later is served, too; a path is mounted once.
    assert_eq!(
        house.server.register("/echo", Echo::default()),
        Err(RegisterError::Taken("/echo".to_owned()))
    );
    house.server.register("/other", Echo::default()).unwrap();
    assert!(house.post(address, "/other", "").await.starts_with("HTTP/1.1 200"));
    let counted = house.counted();
    let expected = [
        r#"in_flight{webhook="/echo"} 0"#,
        r#"in_flight{webhook="/other"} 0"#,
        r#"total{code="200",webhook="/echo"} 1"#,
        r#"total{code="200",webhook="/other"} 1"#,
        r#"total{code="500",webhook="/echo"} 1"#,
        r#"total{code="500",webhook="/other"} 0"#,
    ];
    assert_eq!(counted, expected);
    house.stopped().await;
}

#[tokio::test]
async fn a_certificate_that_comes_later_or_changes_is_shown_to_the_next_connection() {
    let mut house = House::new(|_| {});
    assert!(house.server.ready().unwrap_err().to_string().contains("not listening"));
    let address = house.start().await;
    assert!(house.server.ready().unwrap_err().to_string().contains("tls.crt"));
    assert!(house.connect(address, "hook", false).await.is_err());
    for name in ["hook", "renewed"] {
        house.write_certificate(name);
        let shown = async { while house.connect(address, name, false).await.is_err() {} };
        timeout(Duration::from_secs(20), shown).await.unwrap();
        assert!(house.server.ready().is_ok());
    }
    house.stopped().await;
}

#[tokio::test]
async fn a_stopping_server_answers_what_it_has() {
    let mut house = House::new(|_| {});
    house.write_certificate("hook");
    let address = house.start().await;
    let (echo, stop) = (house.echo.clone(), house.stop.clone());
    let (answer, ()) = tokio::join!(house.post(address, "/echo", "wait"), async {
        echo.begun.notified().await;
        stop.cancel();
        echo.go.notify_one();
    });
    assert!(answer.ends_with("wait"), "{answer}");
    house.stopped().await;
}

#[tokio::test]
async fn a_client_without_a_certificate_is_refused_where_one_is_required() {
    let mut house = House::new(|options| options.client_ca = Some("ca.crt".into()));
    house.write_certificate("hook");
    fs::write(house.folder.join("ca.crt"), house.ca.pem()).unwrap();
    let address = house.start().await;
    // In TLS 1.3 the client hears of it when it reads.
    let refused = async { exchange(house.connect(address, "hook", false).await?, "/echo", "hello").await };
    assert!(refused.await.is_err());
    let stream = house.connect(address, "hook", true).await.unwrap();
    assert!(exchange(stream, "/echo", "hello").await.unwrap().ends_with("hello"));
    house.stopped().await;
}

#[tokio::test]
async fn slow_headers_slow_bodies_and_silent_sockets_are_cut_off() {
    let short = Duration::from_millis(50);
    let mut house = House::new(|options| {
        (options.handshake_timeout, options.header_timeout, options.body_timeout) = (short, short, short);
    });
    house.write_certificate("hook");
    let address = house.start().await;
    let patience = Duration::from_secs(20);

    let mut silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(timeout(patience, silent.read(&mut [0])).await.unwrap().unwrap_or(0), 0);

    for (sent, answer) in [
        ("POST /echo HTTP/1.1\r\nhost: ", ""),
        ("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhel", "HTTP/1.1 408"),
        ("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n", "HTTP/1.1 413"),
    ] {
        let mut stream = house.connect(address, "hook", false).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut got = Vec::new();
        // Whether the end is announced is of no matter.
        let _ = timeout(patience, stream.read_to_end(&mut got)).await.unwrap();
        let got = String::from_utf8_lossy(&got);
        assert!(got.starts_with(answer), "{sent:?}: {got}");
    }
    house.stopped().await;
}

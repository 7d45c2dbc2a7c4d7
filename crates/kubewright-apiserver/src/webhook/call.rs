//! One call, over HTTPS or in this process.

use std::{error::Error, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;

use super::{
    endpoint::Endpoint,
    services::{ServiceRoute, Services},
    target::Place,
};

pub(super) async fn ask(
    services: &Services,
    endpoint: &Endpoint,
    question: Vec<u8>,
) -> Result<Bytes, String> {
    let url = endpoint.target.url(endpoint.timeout.as_secs());
    let asked = timeout(endpoint.timeout, send(services, endpoint, &url, question)).await;
    let answered = asked.unwrap_or_else(|_| Err("context deadline exceeded".into()));
    match answered.map_err(|error| format!("Post {url:?}: {}", chain(&*error)))? {
        (status, body) if status.is_success() => Ok(body),
        (StatusCode::NOT_FOUND, _) => Err("the server could not find the requested resource".to_owned()),
        (status, _) => Err(format!(
            "the server responded with the status code {} but did not return more information",
            status.as_u16()
        )),
    }
}

async fn send(
    services: &Services,
    endpoint: &Endpoint,
    url: &str,
    question: Vec<u8>,
) -> Result<(StatusCode, Bytes), BoxError> {
    let uri: Uri = url.parse()?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let request = Request::post(path)
        .header(header::HOST, uri.authority().map_or("", |authority| authority.as_str()))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(Bytes::from(question))?;
    let route = match &endpoint.target.place {
        Place::Url(_) => None,
        Place::Service { namespace, name, .. } => {
            Some(services.find(namespace, name).ok_or_else(|| format!("service {name:?} not found"))?)
        }
    };
    let stream = match route {
        Some(ServiceRoute::InProcess(handler)) => {
            let (parts, body) = handler(request).await.into_parts();
            return Ok((parts.status, body));
        }
        Some(ServiceRoute::Address(address)) => connect(address).await?,
        None => TcpStream::connect((host.as_str(), uri.port_u16().unwrap_or(443))).await?,
    };
    let tls = endpoint.tls.get_or_init(|| trusting(&endpoint.target.ca_bundle));
    let connector = TlsConnector::from(Arc::new(tls.clone()));
    let stream = connector.connect(ServerName::try_from(host)?, stream).await?;
    exchange(TokioIo::new(stream), request.map(Full::new)).await
}

async fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// One request on a connection of its own.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes), BoxError>
where
    S: hyper::rt::Read + hyper::rt::Write + Unpin,
{
    let (mut sender, connection) = http1::handshake(stream).await?;
    let exchange = async {
        let (parts, body) = sender.send_request(request).await?.into_parts();
        let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await?.to_bytes();
        Ok((parts.status, body))
    };
    tokio::pin!(exchange, connection);
    tokio::select! {
        answer = &mut exchange => answer,
        // The webhook closes the connection after its answer, or without one.
        _ = &mut connection => exchange.await,
    }
}

/// Trusts nobody but the CAs of the bundle.
///
/// # Differences from Go
/// Without a bundle nobody is trusted, where upstream trusts what its machine trusts.
fn trusting(bundle: &[u8]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(bundle).filter_map(Result::ok));
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(rustls::DEFAULT_VERSIONS)
        .expect("ring has the ciphers of the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

type BoxError = Box<dyn Error + Send + Sync>;

/// Source: apiserver's limit on what it reads from clients, doubled: a patch may replace all of an object.
const MAX_ANSWER_BYTES: usize = 6 << 20;

//! What test environments start as `etcd`: it says that it is healthy, and stores nothing.

use std::convert::Infallible;

use anyhow::Context;
use bytes::Bytes;
use clap::Parser;
use http::{Request, Response, StatusCode, Uri, header::CONTENT_TYPE};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, task::JoinSet};

use crate::stop::Stop;

/// Stands in for etcd where a test environment wants one: kubewright's `kube-apiserver` keeps its objects itself.
#[derive(Debug, Parser)]
#[command(name = "etcd", version)]
pub(crate) struct Options {
    /// Where `/health` is served.
    #[arg(long, default_value = "http://localhost:2379", value_name = "URL", value_delimiter = ',')]
    listen_client_urls: Vec<Uri>,

    #[command(flatten)]
    _without_effect: WithoutEffect,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Taken from whoever starts an etcd; nothing is stored, so they change nothing")]
struct WithoutEffect {
    #[arg(long, value_name = "URL")]
    advertise_client_urls: Option<String>,
    #[arg(long, value_name = "URL")]
    listen_peer_urls: Option<String>,
    #[arg(long, value_name = "PATH")]
    data_dir: Option<String>,
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    unsafe_no_fsync: Option<bool>,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let mut listening = JoinSet::new();
    for url in &options.listen_client_urls {
        listening.spawn(accept(bind(url).await?));
    }
    stop.asked().await;
    listening.shutdown().await;
    Ok(())
}

async fn bind(url: &Uri) -> anyhow::Result<TcpListener> {
    let authority = url.authority().filter(|_| url.scheme_str() == Some("http"));
    let authority = authority
        .with_context(|| format!("--listen-client-urls: {url} is not of the form http://ADDRESS:PORT"))?;
    let address = (authority.host().trim_matches(['[', ']']), authority.port_u16().unwrap_or(2379));
    TcpListener::bind(address).await.with_context(|| format!("failed to listen on {authority}"))
}

async fn accept(listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
            }
        }
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, kind, text) = match request.uri().path() {
        "/health" => (StatusCode::OK, "application/json", r#"{"health":"true","reason":""}"#),
        _ => (
            StatusCode::NOT_FOUND,
            "text/plain",
            "this etcd stores nothing: kube-apiserver keeps its objects\n",
        ),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(kind));
    Ok(response)
}

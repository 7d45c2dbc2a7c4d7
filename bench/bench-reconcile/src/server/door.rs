//! Listens on a TCP port, in plain HTTP/1.1.

use std::convert::Infallible;

use anyhow::{Context, Result};
use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use super::answer::{Body, Server};

/// Answers whoever connects. Dropped, it ends all connections.
pub(crate) async fn serve(listener: TcpListener, server: Server) -> Result<Infallible> {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted.context("failed to accept a connection")?;
                // What is small, as the answer to the control endpoint, must not wait for more.
                stream.set_nodelay(true)?;
                connections.spawn(connection(stream, server.clone()));
            }
            Some(ended) = connections.join_next() => ended.context("a connection panicked")?,
        }
    }
}

async fn connection(stream: TcpStream, server: Server) {
    let service = service_fn(|request: Request<Incoming>| {
        std::future::ready(Ok::<Response<Body>, Infallible>(server.answer(&request)))
    });
    if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
        // A client that is done ends while its watch is open.
        if !error.is_incomplete_message() && !error.is_canceled() {
            eprintln!("a connection ended: {error}");
        }
    }
}

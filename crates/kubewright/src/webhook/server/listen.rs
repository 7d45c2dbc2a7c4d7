//! Connections: accepted, protected, served, drained.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use futures::FutureExt;
use http::{Request, StatusCode};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::{
    WebhookServerOptions,
    body::Budget,
    route::{Answer, Route, Routes, text},
};
use crate::error::panic_message;

/// What every connection knows.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) acceptor: TlsAcceptor,
    pub(super) routes: Routes,
    pub(super) budget: Budget,
    pub(super) options: Arc<WebhookServerOptions>,
    pub(super) closing: CancellationToken,
}

impl Door {
    /// Accepts connections until the door closes, then waits for those that are open.
    pub(super) async fn accept(self, listener: TcpListener) {
        let slots = Arc::new(Semaphore::new(self.options.max_connections));
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                () = self.closing.cancelled() => break,
                Some(ended) = connections.join_next() => note_panic(ended),
                accepted = next(&listener, &slots) => match accepted {
                    Ok((stream, slot)) => {
                        connections.spawn(self.clone().connection(stream, slot));
                    }
                    Err(failed) => {
                        debug!(error = %failed, "failed to accept a connection");
                        // Out of descriptors, most likely. Connections that end free some.
                        tokio::time::sleep(ACCEPT_RETRY).await;
                    }
                }
            }
        }
        drop(listener);
        let rest = async { while connections.join_next().await.is_some() {} };
        if timeout(self.options.drain_timeout, rest).await.is_err() {
            connections.shutdown().await;
        }
    }

    async fn connection(self, stream: TcpStream, _slot: OwnedSemaphorePermit) {
        if let Err(failed) = stream.set_nodelay(true) {
            debug!(error = %failed, "failed to set TCP_NODELAY");
        }
        let handshake = timeout(self.options.handshake_timeout, self.acceptor.accept(stream));
        let stream = match self.closing.run_until_cancelled(handshake).await {
            None => return,
            Some(Err(_)) => return debug!("tls handshake took too long"),
            Some(Ok(Err(failed))) => return debug!(error = %failed, "tls handshake failed"),
            Some(Ok(Ok(stream))) => stream,
        };
        let handler = service_fn(|request| {
            let answer = self.answer(request);
            async { Ok::<_, Infallible>(answer.await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.options.header_timeout)
            .max_buf_size(MAX_HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), handler);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(failed) = ended {
            debug!(error = %failed, "connection ended");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let Some(route) = self.routes.find(request.uri().path()) else {
            return text(StatusCode::NOT_FOUND, "404 page not found".to_owned());
        };
        let (_working, began) = (route.metrics.working(), Instant::now());
        let answer = self.answer_from(&route, request).await;
        route.metrics.observe(answer.status(), began.elapsed());
        answer
    }

    async fn answer_from(&self, route: &Route, request: Request<Incoming>) -> Answer {
        let (parts, body) = request.into_parts();
        let limit = route.endpoint.max_body_bytes();
        let body = match self.budget.read(body, limit, self.options.body_timeout).await {
            Ok(body) => body,
            Err(refused) => return route.endpoint.refuse(&refused),
        };
        let request = Request::from_parts(parts, body.bytes.clone());
        // A service that panics before its first await does so in the call.
        let answering = std::panic::AssertUnwindSafe(async { route.endpoint.answer(request).await });
        answering.catch_unwind().await.unwrap_or_else(|panic| {
            error!(panic = panic_message(&*panic), "a mounted service panicked");
            text(StatusCode::INTERNAL_SERVER_ERROR, "internal error".to_owned())
        })
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

fn note_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(ended) = ended {
        error!(panic = crate::error::join_message(ended), "a connection ended in a panic");
    }
}

const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Request line and headers together.
const MAX_HEADER_BYTES: usize = 16 << 10;

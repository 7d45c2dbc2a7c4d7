//! Connections: accepted, protected, served, drained.

use std::{convert::Infallible, future::Future, io, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use http::{Request, StatusCode};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::{Answer, text};
use crate::error::{join_message, panic_message};

/// What answers the requests of a server. Each connection has a clone.
pub(crate) trait Handler: Clone + Send + Sync + 'static {
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Answer> + Send;
}

/// What a server refuses, and how long it waits.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// More connections wait to be accepted.
    pub(crate) max_connections: usize,
    pub(crate) handshake_timeout: Duration,
    /// An idle connection is closed after it, too.
    pub(crate) header_timeout: Duration,
    /// How long a stopping server waits for the requests that it has.
    pub(crate) drain_timeout: Duration,
}

/// A server that is about to accept connections.
#[derive(Clone)]
pub(crate) struct Serving<H> {
    pub(crate) handler: H,
    pub(crate) limits: Limits,
    /// `None`: connections are plain.
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) closing: CancellationToken,
}

impl<H: Handler> Serving<H> {
    /// Accepts connections until it is closed, then waits for those that are open.
    ///
    /// # Cancel safety
    /// Dropped, it closes all connections at once.
    pub(crate) async fn accept(self, listener: TcpListener) {
        let slots = Arc::new(Semaphore::new(self.limits.max_connections));
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
        if timeout(self.limits.drain_timeout, rest).await.is_err() {
            connections.shutdown().await;
        }
    }

    async fn connection(self, stream: TcpStream, _slot: OwnedSemaphorePermit) {
        if let Err(failed) = stream.set_nodelay(true) {
            debug!(error = %failed, "failed to set TCP_NODELAY");
        }
        let Some(tls) = &self.tls else { return self.serve(stream).await };
        let handshake = timeout(self.limits.handshake_timeout, tls.accept(stream));
        match self.closing.run_until_cancelled(handshake).await {
            None => {}
            Some(Err(_)) => debug!("tls handshake took too long"),
            Some(Ok(Err(failed))) => debug!(error = %failed, "tls handshake failed"),
            #[cfg(feature = "http2")]
            Some(Ok(Ok(stream))) if stream.get_ref().1.alpn_protocol() == Some(super::http2::ALPN) => {
                self.serve_http2(stream).await;
            }
            Some(Ok(Ok(stream))) => self.serve(stream).await,
        }
    }

    async fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let handler = service_fn(|request| {
            let answer = contained(self.handler.answer(request));
            async { Ok::<_, Infallible>(answer.await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_buf_size(MAX_HEADER_BYTES as usize)
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
}

/// Answers with the status 500 where `answering` panics.
pub(crate) async fn contained(answering: impl Future<Output = Answer>) -> Answer {
    AssertUnwindSafe(answering).catch_unwind().await.unwrap_or_else(|panic| {
        error!(panic = panic_message(&*panic), "the answer to a request panicked");
        text(StatusCode::INTERNAL_SERVER_ERROR, "internal error".to_owned())
    })
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
        error!(panic = join_message(ended), "a connection ended in a panic");
    }
}

const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Request line and headers together.
pub(super) const MAX_HEADER_BYTES: u32 = 16 << 10;

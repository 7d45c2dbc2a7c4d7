//! HTTP/2: many requests over one connection, and how far its client may go.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream::FuturesUnordered};
use hyper::{rt::Executor, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{Notify, mpsc},
    time::{Instant, sleep},
};
use tracing::debug;

use super::{Handler, Serving, contained, listen::MAX_HEADER_BYTES};

/// What a client that wants it names in its handshake.
pub(super) const ALPN: &[u8] = b"h2";

impl<H: Handler> Serving<H> {
    /// Serves one connection, and all of its requests in the same task: they end with it.
    pub(super) async fn serve_http2(&self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let (streams, mut begun) = Streams::new();
        let (handler, resets) = (self.handler.clone(), Resets::default());
        let counted = resets.clone();
        let service = service_fn(move |request| {
            let (handler, request_of) = (handler.clone(), counted.begin());
            async move {
                let answer = contained(handler.answer(request)).await;
                request_of.answered();
                Ok::<_, Infallible>(answer)
            }
        });
        let connection = http2::Builder::new(streams)
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
            .max_header_list_size(MAX_HEADER_BYTES)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let (mut running, mut is_leaving) = (FuturesUnordered::new(), false);
        let idle = sleep(self.limits.header_timeout);
        tokio::pin!(idle);
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(failed) = ended {
                        debug!(error = %failed, "connection ended");
                    }
                    return;
                }
                Some(stream) = begun.recv() => running.push(stream),
                Some(()) = running.next() => {
                    if running.is_empty() {
                        idle.as_mut().reset(Instant::now() + self.limits.header_timeout);
                    }
                }
                () = self.closing.cancelled(), if !is_leaving => {
                    is_leaving = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = idle.as_mut(), if running.is_empty() => {
                    if is_leaving {
                        return;
                    }
                    // A request that is on its way is told to go elsewhere.
                    is_leaving = true;
                    connection.as_mut().graceful_shutdown();
                    idle.as_mut().reset(Instant::now() + FAREWELL);
                }
                () = resets.too_many.notified() => {
                    debug!("a client resets its requests faster than they are answered");
                    return;
                }
            }
        }
    }
}

/// Hands the requests of a connection to the task of the connection.
#[derive(Clone)]
struct Streams(mpsc::UnboundedSender<Stream>);

type Stream = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Streams {
    fn new() -> (Self, mpsc::UnboundedReceiver<Stream>) {
        // Bounded by MAX_CONCURRENT_STREAMS; the task takes them as they come.
        let (tx, rx) = mpsc::unbounded_channel();
        (Self(tx), rx)
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        // Nobody receives when the connection ends, and its requests with it.
        let _ = self.0.send(Box::pin(stream));
    }
}

/// Requests that the client took back before they were answered. Each costs us and not the client, so there is an end to it (CVE-2023-44487).
#[derive(Clone, Default)]
struct Resets {
    /// Grows with each reset and shrinks with each answer.
    balance: Arc<AtomicU32>,
    too_many: Arc<Notify>,
}

/// A request under way. Dropped, it was reset.
struct Begun(Option<Resets>);

impl Resets {
    fn begin(&self) -> Begun {
        Begun(Some(self.clone()))
    }
}

impl Begun {
    fn answered(mut self) {
        if let Some(resets) = self.0.take() {
            let _ = resets.balance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1));
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(resets) = self.0.take()
            && resets.balance.fetch_add(1, Ordering::Relaxed) >= MAX_RESETS
        {
            resets.too_many.notify_one();
        }
    }
}

/// The least that RFC 9113 recommends. The API server sends all of its calls over one connection.
const MAX_CONCURRENT_STREAMS: u32 = 100;

/// How many requests more than are answered a client may take back: all that it may have at once, and as many again.
const MAX_RESETS: u32 = 2 * MAX_CONCURRENT_STREAMS;

/// What a client may send before it is read, and before it counts as bytes in flight.
const STREAM_WINDOW: u32 = 128 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;

/// How long a client has to hear that its idle connection is closed.
const FAREWELL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_who_takes_back_more_than_is_answered_is_cut_off() {
        let resets = Resets::default();
        for _ in 0..10 * MAX_RESETS {
            drop(resets.begin());
            resets.begin().answered();
        }
        for _ in 0..MAX_RESETS {
            drop(resets.begin());
        }
        assert!(futures::poll!(Box::pin(resets.too_many.notified())).is_pending());
        drop(resets.begin());
        resets.too_many.notified().await;
    }
}

//! One connection: protected, served, and given up when the client does nothing.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tower_service::Service;
use tracing::debug;

use super::{layer::ClientCertificate, service::ApiService};

/// What serves a connection.
#[derive(Clone)]
pub(super) struct Serving {
    pub(super) service: ApiService,
    /// `None`: connections are plain.
    pub(super) acceptor: Option<TlsAcceptor>,
    pub(super) closing: CancellationToken,
}

impl Serving {
    pub(super) async fn connection(self, stream: TcpStream) {
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "failed to set TCP_NODELAY");
        }
        let stream = Unstalled::new(stream, self.closing.clone());
        let Some(acceptor) = &self.acceptor else {
            return self.serve(stream, None).await;
        };
        let handshake = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream));
        match self.closing.run_until_cancelled(handshake).await {
            None => {}
            Some(Err(_)) => debug!("tls handshake took too long"),
            Some(Ok(Err(error))) => debug!(%error, "failed to shake hands"),
            Some(Ok(Ok(stream))) => {
                // Verified by the handshake: nobody gets here with a certificate of another CA.
                let certificate = stream.get_ref().1.peer_certificates().map(|_| ClientCertificate);
                self.serve(stream, certificate).await;
            }
        }
    }

    /// Serves requests until the client or the door closes the connection.
    async fn serve(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        certificate: Option<ClientCertificate>,
    ) {
        let service = self.service.clone();
        let handler = service_fn(move |mut request: Request<Incoming>| {
            if let Some(certificate) = certificate {
                request.extensions_mut().insert(certificate);
            }
            service.clone().call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE_TIMEOUT)
            .serve_connection(TokioIo::new(stream), handler);
        tokio::pin!(connection);
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = self.closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            debug!(%error, "connection ended");
        }
    }
}

/// A connection that breaks when the other side reads nothing of what is ready for it.
///
/// Nothing else notices: a body is asked for its next frame, and so for its end, only once there is room for it.
struct Unstalled<S> {
    stream: S,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
    closing: Pin<Box<WaitForCancellationFutureOwned>>,
    is_closing: bool,
}

impl<S> Unstalled<S> {
    fn new(stream: S, closing: CancellationToken) -> Self {
        Self { stream, stalled: None, closing: Box::pin(closing.cancelled_owned()), is_closing: false }
    }

    /// Lets a write through, unless it has waited for too long.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        if !self.is_closing && self.closing.as_mut().poll(context).is_ready() {
            self.is_closing = true;
            self.stalled = None;
        }
        let patience = if self.is_closing { STALL_TIMEOUT_CLOSING } else { STALL_TIMEOUT };
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Unstalled<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Unstalled<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// How long a client may take to shake hands.
///
/// Source: apiserver `server.SecureServingInfo.Serve`, whose `ReadHeaderTimeout` Go applies to the handshake.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(32);
/// How long a connection may have no request, or an unfinished head of one.
///
/// # Differences from Go
/// Upstream gives 32 s to the head of a request; hyper does not tell it from the time before.
///
/// Source: apiserver `server.SecureServingInfo.Serve`, `IdleTimeout`.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// How long a client may read nothing of an answer. Upstream waits for ever.
pub(super) const STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// The same once the door closes.
const STALL_TIMEOUT_CLOSING: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, duplex},
        time::Instant,
    };

    use super::*;

    async fn write_all(stream: &mut Unstalled<tokio::io::DuplexStream>) -> (io::ErrorKind, Duration) {
        let start = Instant::now();
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        (error.kind(), start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_given_up() {
        let (near, _far) = duplex(16);
        let mut stream = Unstalled::new(near, CancellationToken::new());
        assert_eq!(write_all(&mut stream).await, (io::ErrorKind::TimedOut, STALL_TIMEOUT));
    }

    #[tokio::test(start_paused = true)]
    async fn a_closing_door_is_less_patient() {
        let (near, _far) = duplex(16);
        let closing = CancellationToken::new();
        let mut stream = Unstalled::new(near, closing.clone());
        let (written, ()) = tokio::join!(write_all(&mut stream), async {
            sleep(Duration::from_secs(5)).await;
            closing.cancel();
        });
        assert_eq!(written, (io::ErrorKind::TimedOut, Duration::from_secs(5) + STALL_TIMEOUT_CLOSING));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_everything() {
        let (near, mut far) = duplex(16);
        let mut stream = Unstalled::new(near, CancellationToken::new());
        let slowly = async {
            let mut buffer = [0; 16];
            for _ in 0..4 {
                sleep(STALL_TIMEOUT.mul_f64(0.9)).await;
                far.read_exact(&mut buffer).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(stream.write_all(&[0; 64]), slowly);
        assert!(written.is_ok());
    }
}

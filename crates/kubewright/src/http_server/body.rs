//! Bodies: how long, how large, and how many bytes of them at once.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt;
use thiserror::Error;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// Why a request's body was not taken.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It is longer than the path takes.
    #[error("request entity is too large; limit is {0} bytes")]
    TooLarge(usize),
    /// The client was too slow, or the server had no room for more bytes.
    #[error("failed to read the body in time")]
    TooLate,
    /// The connection broke, or what came was not HTTP.
    #[error("failed to read the body: {0}")]
    Broken(String),
}

impl BodyError {
    /// The status that says so.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooLate => StatusCode::REQUEST_TIMEOUT,
            Self::Broken(_) => StatusCode::BAD_REQUEST,
        }
    }
}

/// The bytes that all requests of a server may hold.
///
/// The first [`UNCOUNTED`] of each body are not counted: what is small, as nearly all requests are, never waits for what is large. A body that is larger
/// takes its whole share at once, so that of several that wait none keeps what another one needs.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    free: Arc<Semaphore>,
    bytes: usize,
}

/// A body, and its part of the budget until the request is answered.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) bytes: Bytes,
    _share: Option<OwnedSemaphorePermit>,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        let bytes = bytes.min(Semaphore::MAX_PERMITS).min(u32::MAX as usize);
        Self { free: Arc::new(Semaphore::new(bytes)), bytes }
    }

    /// Reads a body. A client that only promises many bytes holds none.
    pub(crate) async fn read<B>(&self, body: B, max_bytes: usize, within: Duration) -> Result<Held, BodyError>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let max_bytes = max_bytes.min(self.bytes.saturating_add(UNCOUNTED));
        // What says its length is refused before it is sent.
        if body.size_hint().lower() > max_bytes as u64 {
            return Err(BodyError::TooLarge(max_bytes));
        }
        timeout(within, self.collect(body, max_bytes)).await.unwrap_or(Err(BodyError::TooLate))
    }

    async fn collect<B>(&self, mut body: B, max_bytes: usize) -> Result<Held, BodyError>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let promised = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
        let most = promised.unwrap_or(max_bytes);
        let (mut bytes, mut share) = (BytesMut::with_capacity(promised.unwrap_or(0).min(UNCOUNTED)), None);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| BodyError::Broken(error.to_string()))?;
            let Ok(data) = frame.into_data() else { continue };
            let length = bytes.len() + data.len();
            if length > max_bytes {
                return Err(BodyError::TooLarge(max_bytes));
            }
            if length > UNCOUNTED && share.is_none() {
                share = Some(self.share(most.max(length) - UNCOUNTED).await?);
                bytes.reserve(promised.unwrap_or(length).max(length) - bytes.len());
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Held { bytes: bytes.freeze(), _share: share })
    }

    async fn share(&self, bytes: usize) -> Result<OwnedSemaphorePermit, BodyError> {
        let permits = u32::try_from(bytes).map_err(|_| BodyError::TooLarge(self.bytes))?;
        self.free.clone().acquire_many_owned(permits).await.map_err(|_| BodyError::TooLate)
    }
}

/// How many bytes each request may hold beside the budget; connections are limited, too. An admission review of an object of usual size is below it.
const UNCOUNTED: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};

    use super::*;

    const WITHIN: Duration = Duration::from_secs(30);
    const CHUNK: &[u8] = &[7; 16 << 10];

    /// A body that does not say how long it is.
    fn chunked(chunks: usize) -> impl Body<Data = Bytes, Error = String> + Unpin {
        StreamBody::new(frames(chunks))
    }

    fn frames(chunks: usize) -> impl futures::Stream<Item = Result<Frame<Bytes>, String>> + Unpin {
        stream::iter((0..chunks).map(|_| Ok(Frame::data(Bytes::from_static(CHUNK)))))
    }

    fn full(bytes: usize) -> Full<Bytes> {
        Full::new(vec![7; bytes].into())
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_long_is_refused_whether_it_says_so_or_not() {
        let budget = Budget::new(100);
        let said = budget.read(Full::new(Bytes::from_static(b"12345678901")), 10, WITHIN).await;
        assert!(matches!(said, Err(BodyError::TooLarge(10))));
        let limit = 2 * CHUNK.len();
        assert!(
            matches!(budget.read(chunked(3), limit, WITHIN).await, Err(BodyError::TooLarge(it)) if it == limit)
        );
        assert_eq!(budget.read(chunked(2), limit, WITHIN).await.unwrap().bytes.len(), limit);
        // What could never be held is refused, and not waited for.
        let limit = UNCOUNTED + 100;
        assert!(budget.read(full(limit), 7 << 20, WITHIN).await.is_ok());
        for body in [
            budget.read(full(limit + 1), 7 << 20, WITHIN).await,
            budget.read(chunked(5), 7 << 20, WITHIN).await,
        ] {
            assert!(matches!(body, Err(BodyError::TooLarge(it)) if it == limit));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_given_up_and_gives_its_bytes_back() {
        let budget = Budget::new(UNCOUNTED);
        let endless = StreamBody::new(frames(5).chain(stream::pending()));
        assert!(matches!(budget.read(endless, 7 << 20, WITHIN).await, Err(BodyError::TooLate)));
        assert!(budget.read(chunked(5), 7 << 20, WITHIN).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_in_flight_are_bounded_and_waited_for_and_what_is_small_passes() {
        let budget = Budget::new(UNCOUNTED);
        let held = budget.read(full(2 * UNCOUNTED), 7 << 20, WITHIN).await.unwrap();
        assert!(matches!(budget.read(full(UNCOUNTED + 1), 7 << 20, WITHIN).await, Err(BodyError::TooLate)));
        assert!(budget.read(full(UNCOUNTED), 7 << 20, WITHIN).await.is_ok());
        assert!(budget.read(chunked(4), 7 << 20, WITHIN).await.is_ok());
        let (next, ()) =
            tokio::join!(budget.read(full(UNCOUNTED + 1), 7 << 20, WITHIN), async { drop(held) });
        assert!(next.is_ok());
    }

    /// Each needs more than half of the budget: if they took their bytes as they come, all would wait for ever.
    #[tokio::test(start_paused = true)]
    async fn large_bodies_do_not_keep_from_each_other_what_they_need() {
        let budget = Budget::new(10 * CHUNK.len());
        let slow = || {
            let frames = frames(UNCOUNTED / CHUNK.len() + 6).then(|frame| async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                frame
            });
            async {
                let body = StreamBody::new(Box::pin(frames));
                // Answered at once: what it held is free again.
                budget.read(body, UNCOUNTED + 6 * CHUNK.len(), WITHIN).await.map(drop)
            }
        };
        let read = futures::future::join_all((0..8).map(|_| slow())).await;
        assert!(read.iter().all(Result::is_ok));
    }
}

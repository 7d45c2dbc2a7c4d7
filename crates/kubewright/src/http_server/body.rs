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
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    free: Arc<Semaphore>,
}

/// A body, and its part of the budget until the request is answered.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) bytes: Bytes,
    _share: Option<OwnedSemaphorePermit>,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))) }
    }

    /// Reads a body. Its bytes are counted as they come, so that a client that only promises many holds none.
    pub(crate) async fn read<B>(&self, body: B, max_bytes: usize, within: Duration) -> Result<Held, BodyError>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
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
        let (mut bytes, mut share) = (BytesMut::new(), None::<OwnedSemaphorePermit>);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| BodyError::Broken(error.to_string()))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > max_bytes {
                return Err(BodyError::TooLarge(max_bytes));
            }
            let more = u32::try_from(data.len()).map_err(|_| BodyError::TooLarge(max_bytes))?;
            let more = self.free.clone().acquire_many_owned(more).await.map_err(|_| BodyError::TooLate)?;
            match &mut share {
                Some(share) => share.merge(more),
                None => share = Some(more),
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Held { bytes: bytes.freeze(), _share: share })
    }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};

    use super::*;

    const WITHIN: Duration = Duration::from_secs(30);

    fn chunked(chunks: usize) -> impl Body<Data = Bytes, Error = String> + Unpin {
        StreamBody::new(stream::iter((0..chunks).map(|_| Ok(Frame::data(Bytes::from_static(b"12345"))))))
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_long_is_refused_whether_it_says_so_or_not() {
        let budget = Budget::new(100);
        let said = budget.read(Full::new(Bytes::from_static(b"12345678901")), 10, WITHIN).await;
        assert!(matches!(said, Err(BodyError::TooLarge(10))));
        assert!(matches!(budget.read(chunked(3), 10, WITHIN).await, Err(BodyError::TooLarge(10))));
        assert_eq!(budget.read(chunked(2), 10, WITHIN).await.unwrap().bytes, "1234512345");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_given_up_and_gives_its_bytes_back() {
        let budget = Budget::new(5);
        let endless = StreamBody::new(chunked_stream().chain(stream::pending()));
        assert!(matches!(budget.read(endless, 10, WITHIN).await, Err(BodyError::TooLate)));
        assert!(budget.read(chunked(1), 10, WITHIN).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_in_flight_are_bounded_and_waited_for() {
        let budget = Budget::new(10);
        let held = budget.read(chunked(2), 10, WITHIN).await.unwrap();
        assert!(matches!(budget.read(chunked(1), 10, WITHIN).await, Err(BodyError::TooLate)));
        let (next, ()) = tokio::join!(budget.read(chunked(1), 10, WITHIN), async { drop(held) });
        assert!(next.is_ok());
    }

    fn chunked_stream() -> impl futures::Stream<Item = Result<Frame<Bytes>, String>> + Unpin {
        stream::iter([Ok(Frame::data(Bytes::from_static(b"12345")))])
    }
}

//! The body of an answer.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{Stream, stream::BoxStream};
use http_body::{Frame, SizeHint};
use thiserror::Error;

/// The body of an answer: bytes that are there, or the frames of a watch.
pub struct Body(Inner);

enum Inner {
    Full(Option<Bytes>),
    Frames(BoxStream<'static, Result<Bytes, BodyError>>),
}

/// Why a body ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A fault plan has cut the connection.
    #[error("connection cut by the fault plan")]
    Cut,
    /// An object of a list that is already on its way cannot be read. This is a fault of ours.
    #[error("failed to decode a stored object")]
    Unreadable,
    /// Writing the body has panicked. This is a fault of ours.
    #[error("the answer to a request panicked")]
    Panicked,
}

impl Body {
    pub(crate) fn full(bytes: impl Into<Bytes>) -> Self {
        Self(Inner::Full(Some(bytes.into())))
    }

    pub(crate) fn frames(frames: impl Stream<Item = Result<Bytes, BodyError>> + Send + 'static) -> Self {
        Self(Inner::Frames(Box::pin(frames)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frames = match &mut self.0 {
            Inner::Full(bytes) => return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Inner::Frames(frames) => frames,
        };
        // The caller may be whoever holds the other door's client, and is not to go down with a request.
        let Ok(next) = catch_unwind(AssertUnwindSafe(|| frames.as_mut().poll_next(context))) else {
            self.0 = Inner::Full(None);
            return Poll::Ready(Some(Err(BodyError::Panicked)));
        };
        next.map(|next| next.map(|frame| frame.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Inner::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Inner::Frames(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Full(bytes) => {
                formatter.debug_tuple("Full").field(&bytes.as_ref().map(Bytes::len)).finish()
            }
            Inner::Frames(_) => formatter.write_str("Frames"),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_panic_ends_the_body_and_not_its_reader() {
        let frames = stream::iter([1, 0]).map(|number| Ok(Bytes::from(vec![0; 8 / number])));
        let mut body = Body::frames(frames);
        assert!(body.frame().await.unwrap().is_ok());
        assert!(matches!(body.frame().await, Some(Err(BodyError::Panicked))));
        assert!(body.frame().await.is_none());
    }
}

//! The body of an answer.

use std::{
    fmt,
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
        match &mut self.0 {
            Inner::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Inner::Frames(frames) => {
                frames.as_mut().poll_next(context).map(|next| next.map(|frame| frame.map(Frame::data)))
            }
        }
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

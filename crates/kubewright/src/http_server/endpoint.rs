//! What answers the requests of one path.

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tower_service::Service;

use super::{Answer, BodyError, text};
use crate::{BoxError, error};

/// An answer under way.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What answers the requests of one path, once their bodies have been read.
pub(crate) trait Endpoint: Send + Sync + 'static {
    /// The longest body that it takes.
    fn max_body_bytes(&self) -> usize {
        7 << 20
    }

    /// What a client gets whose body was not taken.
    fn refuse(&self, error: &BodyError) -> Answer {
        text(error.status(), error.to_string())
    }

    fn answer(&self, request: Request<Bytes>) -> Answering;
}

/// A tower service as an endpoint.
pub(crate) struct Mounted<S>(pub(crate) S);

impl<S, B> Endpoint for Mounted<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn answer(&self, request: Request<Bytes>) -> Answering {
        let mut service = self.0.clone();
        Box::pin(async move {
            let answered = async {
                std::future::poll_fn(|context| service.poll_ready(context)).await.map_err(Into::into)?;
                let (parts, body) =
                    service.call(request.map(Full::new)).await.map_err(Into::into)?.into_parts();
                let body = body.collect().await.map_err(Into::<BoxError>::into)?.to_bytes();
                Ok::<_, BoxError>(Response::from_parts(parts, Full::new(body)))
            };
            answered.await.unwrap_or_else(|failed| {
                tracing::error!(error = error::chain(&*failed), "failed to answer a request");
                text(StatusCode::INTERNAL_SERVER_ERROR, "internal error".to_owned())
            })
        })
    }
}

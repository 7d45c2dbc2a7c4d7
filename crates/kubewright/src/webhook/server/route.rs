//! Which service a path leads to.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use hashbrown::HashMap;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use parking_lot::RwLock;
use thiserror::Error;
use tower_service::Service;

use super::BodyError;
use crate::{BoxError, error, metrics::Registry, webhook::metrics::PathMetrics};

/// An answer of a webhook server.
pub(in crate::webhook) type Answer = Response<Full<Bytes>>;

/// An answer under way.
pub(in crate::webhook) type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What answers the requests of one path.
pub(in crate::webhook) trait Endpoint: Send + Sync + 'static {
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

/// Why a path was not taken.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// Something is mounted there already.
    #[error("path {0} is taken")]
    Taken(String),
    /// It does not start with `/`.
    #[error("path {0:?} does not start with a slash")]
    NotAbsolute(String),
}

/// The paths of a server. Clones are handles of one table.
#[derive(Clone, Default)]
pub(super) struct Routes(Arc<RwLock<HashMap<String, Route>>>);

#[derive(Clone)]
pub(super) struct Route {
    pub(super) endpoint: Arc<dyn Endpoint>,
    pub(super) metrics: PathMetrics,
}

impl Routes {
    pub(super) fn add(
        &self,
        path: &str,
        endpoint: Arc<dyn Endpoint>,
        registry: &Registry,
    ) -> Result<(), RegisterError> {
        if !path.starts_with('/') {
            return Err(RegisterError::NotAbsolute(path.to_owned()));
        }
        let mut routes = self.0.write();
        if routes.contains_key(path) {
            return Err(RegisterError::Taken(path.to_owned()));
        }
        let route = Route { endpoint, metrics: PathMetrics::new(registry, path) };
        routes.insert(path.to_owned(), route);
        Ok(())
    }

    pub(super) fn find(&self, path: &str) -> Option<Route> {
        self.0.read().get(path).cloned()
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.read().keys()).finish()
    }
}

/// A tower service as an endpoint.
pub(super) struct Mounted<S>(pub(super) S);

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

/// An answer of one line, as Go's `http.Error` writes it.
pub(super) fn text(status: StatusCode, line: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(line + "\n")));
    *answer.status_mut() = status;
    let plain = http::HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, plain);
    answer
}

/// An answer in JSON, with the status 200.
pub(in crate::webhook) fn json(value: &impl serde::Serialize) -> Answer {
    let Ok(body) = serde_json::to_vec(value) else {
        return text(StatusCode::INTERNAL_SERVER_ERROR, "internal error".to_owned());
    };
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    let json = http::HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}

//! A layer as one async function.

use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::Response;
use tower::Layer;
use tower_service::Service;

use crate::{door::ServiceError, wire::Body};

/// What becomes of a request.
pub(in crate::door) type Answer = Result<Response<Body>, ServiceError>;

/// What one layer does to a request of the form `R`, before and after `next` has answered it.
pub(super) trait Filter<R, S>: Clone + Send + Sync + 'static {
    fn pass(self, request: R, next: S) -> impl Future<Output = Answer> + Send;
}

/// What comes after a layer. It is always ready.
pub(super) trait Next<R>:
    Service<R, Response = Response<Body>, Error = ServiceError, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<R, S> Next<R> for S where
    S: Service<R, Response = Response<Body>, Error = ServiceError, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A filter as a [`Layer`].
#[derive(Debug, Clone)]
pub(in crate::door) struct Passing<F>(pub(in crate::door) F);

/// A service behind a filter.
#[derive(Debug, Clone)]
pub(in crate::door) struct Filtered<F, S> {
    filter: F,
    next: S,
}

impl<F: Clone, S> Layer<S> for Passing<F> {
    type Service = Filtered<F, S>;

    fn layer(&self, next: S) -> Filtered<F, S> {
        Filtered { filter: self.0.clone(), next }
    }
}

impl<R, F, S> Service<R> for Filtered<F, S>
where
    R: Send + 'static,
    F: Filter<R, S>,
    S: Clone + Send + 'static,
{
    type Response = Response<Body>;
    type Error = ServiceError;
    type Future = BoxFuture<'static, Answer>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ServiceError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> Self::Future {
        Box::pin(self.filter.clone().pass(request, self.next.clone()))
    }
}

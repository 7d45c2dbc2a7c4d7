//! The server as a service.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{HeaderValue, Request, Response, StatusCode, header, request::Parts};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use thiserror::Error;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower_service::Service;
use tracing::error;

use super::{
    in_flight::InFlight,
    route::{Door, route},
};
use crate::{
    auth::{Authenticator, refuse_impersonation},
    error::Status,
    server::Shared,
    wire::{Body, MAX_BODY_BYTES, Query, RequestInfo, json_response, text_response},
};

/// The server as a [`Service`] for HTTP requests. Clones are cheap.
#[derive(Debug, Clone)]
pub struct ApiService(Door);

/// Why a request got no answer at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The fault plan has the request handled and the answer lost.
    #[error("answer lost by the fault plan")]
    AnswerLost,
    /// The fault plan has the server out of reach.
    #[error("server out of reach by the fault plan")]
    Unreachable,
}

impl ApiService {
    pub(crate) fn new(shared: Arc<Shared>, authenticator: Authenticator, closing: CancellationToken) -> Self {
        Self(Door { shared, authenticator, closing, in_flight: None })
    }

    /// The service behind a port, where strangers may ask for more than there is time for.
    pub(super) fn at_a_port(
        shared: Arc<Shared>,
        authenticator: Authenticator,
        closing: CancellationToken,
    ) -> Self {
        Self(Door { shared, authenticator, closing, in_flight: Some(InFlight::with_defaults()) })
    }

    /// The same service for a caller whom the connection has made known already.
    pub(super) fn trusting(mut self) -> Self {
        self.0.authenticator = Authenticator::trusting();
        self
    }
}

impl<B> Service<Request<B>> for ApiService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = ServiceError;
    type Future = BoxFuture<'static, Result<Response<Body>, ServiceError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ServiceError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let door = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let audit_id = HeaderValue::try_from(door.shared.identity.audit_id());
            let answered = AssertUnwindSafe(answer(door, parts, body)).catch_unwind().await;
            let mut response = answered.unwrap_or_else(|panic| Ok(panicked(&*panic)))?;
            if let Ok(audit_id) = audit_id {
                response.headers_mut().insert("audit-id", audit_id);
            }
            Ok(response)
        })
    }
}

/// Source: apiserver `filters.WithPanicRecovery`.
fn panicked(panic: &(dyn Any + Send)) -> Response<Body> {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
    error!(panic = message, "a request ended in a panic");
    let text = "This request caused apiserver to panic. Look in the logs for details.\n";
    text_response(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// Source: apiserver `filters.tooManyRequests`.
fn too_many_requests() -> Response<Body> {
    let text = "Too many requests, please try again later.\n";
    let mut response = text_response(StatusCode::TOO_MANY_REQUESTS, text);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// The walk of one request: the token, its turn, the fault plan, the body, the handler.
async fn answer<B>(door: Door, parts: Parts, body: B) -> Result<Response<Body>, ServiceError>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let query = Query::parse(parts.uri.query());
    let info = RequestInfo::read(&parts.method, parts.uri.path(), &query).with_headers(&parts.headers);
    if let Err(status) = door.authenticator.check(&info.path, &parts.headers) {
        return Ok(json_response(&status));
    }
    if let Err(status) = refuse_impersonation(&parts.headers) {
        return Ok(json_response(&status));
    }
    let admitted = door.in_flight.as_ref().map(|limit| limit.admit(&info));
    if matches!(admitted, Some(None)) {
        return Ok(too_many_requests());
    }
    let verdict = door.shared.faults.judge(&info);
    if !verdict.delay.is_zero() {
        tokio::time::sleep(verdict.delay).await;
    }
    if verdict.unreachable {
        return Err(ServiceError::Unreachable);
    }
    if let Some(status) = &verdict.respond {
        return Ok(json_response(status));
    }
    let body = match read(body).await {
        Ok(body) => body,
        Err(status) => return Ok(json_response(&status)),
    };
    let lose_answer = verdict.lose_answer;
    let response = route(&door, &parts, info, query, body, verdict).await;
    if lose_answer { Err(ServiceError::AnswerLost) } else { Ok(response) }
}

async fn read<B>(body: B) -> Result<Bytes, Status>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Status::too_large_body(MAX_BODY_BYTES)),
        Ok(Err(error)) => Err(Status::bad_request(format!("failed to read the body: {error}"))),
        Err(_) => Err(Status::timeout("request did not complete within the allotted timeout")),
    }
}

/// How long a client may take to send a body.
///
/// Source: apiserver `--request-timeout`, which the whole request has.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use http_body_util::Full;

    use super::*;
    use crate::{ApiServer, Fault};

    fn get() -> Request<Full<Bytes>> {
        Request::get("/api/v1/namespaces/default").body(Full::default()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn more_requests_than_there_is_time_for_are_asked_to_come_again() {
        let server = ApiServer::builder().build();
        server.faults().add(Fault::delay(Duration::from_secs(5)).always());
        let shared = server.service().0.shared;
        let mut port = ApiService::at_a_port(shared, Authenticator::trusting(), CancellationToken::new());
        let handled = join_all((0..400).map(|_| port.clone().call(get())));
        let one_more = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            port.call(get()).await.unwrap()
        };
        let (handled, refused) = tokio::join!(handled, one_more);
        assert!(handled.into_iter().all(|answer| answer.unwrap().status() == StatusCode::OK));
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers()[header::RETRY_AFTER], "1");
        let text = refused.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(text, "Too many requests, please try again later.\n");
        assert_eq!(port.call(get()).await.unwrap().status(), StatusCode::OK, "the others have gone");
    }
}

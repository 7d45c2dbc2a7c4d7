//! The server as a service.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, request::Parts};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::route::{Door, route};
use crate::{
    auth::{Authenticator, refuse_impersonation},
    server::Shared,
    wire::{Body, MAX_BODY_BYTES, RequestInfo, Status, json_response, parse_query},
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
        Self(Door { shared, authenticator, closing })
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
            let audit_id = HeaderValue::try_from(door.shared.identity.uid());
            let mut response = answer(door, parts, body).await?;
            if let Ok(audit_id) = audit_id {
                response.headers_mut().insert("audit-id", audit_id);
            }
            Ok(response)
        })
    }
}

/// The walk of one request: the token, the fault plan, the body, the handler.
async fn answer<B>(door: Door, parts: Parts, body: B) -> Result<Response<Body>, ServiceError>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let query = parse_query(parts.uri.query());
    let info = RequestInfo::read(&parts.method, parts.uri.path(), &query).with_headers(&parts.headers);
    if let Err(status) = door.authenticator.check(&info.path, &parts.headers) {
        return Ok(json_response(&status));
    }
    if let Err(status) = refuse_impersonation(&parts.headers) {
        return Ok(json_response(&status));
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
    match Limited::new(body, MAX_BODY_BYTES).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Status::too_large_body(MAX_BODY_BYTES)),
        Err(error) => Err(Status::bad_request(format!("failed to read the body: {error}"))),
    }
}

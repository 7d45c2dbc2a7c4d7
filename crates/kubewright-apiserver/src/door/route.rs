//! Which handler a path leads to.

use std::{
    sync::Arc,
    task::{self, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::{
    ServiceError,
    health::health,
    layer::{Answer, Asked, RequestBody},
    metrics::metrics,
    shared::Shared,
};
use crate::{
    context::{Context, ResourceInfo},
    discovery,
    endpoint::Call,
    error::Status,
    openapi,
    registry::{Cluster, no_such_path},
    wire::{Accept, Body, MAX_BODY_BYTES, json_response, text_response},
};

/// Where the walk of a request leads to.
#[derive(Debug, Clone)]
pub(super) struct Routes {
    pub(super) shared: Arc<Shared>,
    /// Fires when the door closes.
    pub(super) closing: CancellationToken,
}

impl Service<Asked> for Routes {
    type Response = Response<Body>;
    type Error = ServiceError;
    type Future = BoxFuture<'static, Answer>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), ServiceError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, asked: Asked) -> Self::Future {
        let routes = self.clone();
        Box::pin(async move { Ok(routes.answer(asked).await.unwrap_or_else(|status| refused(&status))) })
    }
}

impl Routes {
    /// Finds the handler of a request and answers it.
    async fn answer(self, asked: Asked) -> Result<Response<Body>, Status> {
        let Asked { context, method, headers, body, verdict, .. } = asked;
        let body = read(body).await?;
        let Some(resource) = context.info.resource.clone() else {
            return fixed(&self.shared.cluster, &method, &headers, &context);
        };
        let served = self.shared.cluster.served();
        let ResourceInfo { group, version, resource: plural, .. } = &resource;
        let Some(kind) = served.find(group, version, plural) else {
            return Err(unserved(served.is_builtin(group)));
        };
        let accept = Accept::negotiate(&headers, &context.query)?;
        let now = context.clock.now();
        let call = Call {
            cluster: self.shared.cluster.clone(),
            kind: kind.clone(),
            context,
            info: resource,
            headers,
            body,
            accept,
            closing: self.closing,
            cut_after: verdict.cut_after,
            cut: verdict.cut,
        };
        call.handle().await.map(|reply| reply.render(accept, now))
    }
}

async fn read(body: RequestBody) -> Result<Bytes, Status> {
    match body.collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Status::too_large_body(MAX_BODY_BYTES)),
        Err(error) => Err(Status::bad_request(format!("failed to read the body: {error}"))),
    }
}

/// A path that no route leads to is answered by the router, which has never heard of Status.
fn refused(status: &Status) -> Response<Body> {
    if status.code == StatusCode::NOT_FOUND && status.message.is_empty() {
        // Source: apiserver `routes` over `http.NotFound`.
        text_response(StatusCode::NOT_FOUND, "404 page not found\n")
    } else {
        json_response(status)
    }
}

/// Paths that are no resources: health, version, discovery and OpenAPI.
fn fixed(
    cluster: &Cluster,
    method: &Method,
    headers: &HeaderMap,
    context: &Context,
) -> Result<Response<Body>, Status> {
    let served = cluster.served();
    let segments: Vec<&str> = context.info.path.trim_matches('/').split('/').collect();
    let is_builtin = match segments.as_slice() {
        ["api", ..] => true,
        ["apis", group, ..] => served.is_builtin(group),
        _ => false,
    };
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Err(if is_builtin { Status::method_not_allowed() } else { no_such_path() });
    }
    let found = match segments.as_slice() {
        [""] => Some(discovery::index(&served)),
        [endpoint @ ("healthz" | "livez" | "readyz"), check @ ..] => health(endpoint, check, &context.query),
        ["metrics"] => Some(metrics(cluster)),
        [".well-known", "openid-configuration"] => Some(discovery::openid_configuration()),
        ["openid", "v1", "jwks"] => Some(discovery::openid_keys()),
        ["openapi", "v2"] => Some(openapi::v2(&served, headers)),
        ["version"] => Some(discovery::version()),
        ["openapi", "v3"] => Some(openapi::index(&served)),
        ["openapi", "v3", "api", version] => openapi::document(&served, "", version),
        ["openapi", "v3", "apis", group, version] => openapi::document(&served, group, version),
        ["api"] => Some(discovery::core(&served, headers)),
        ["apis"] => Some(discovery::groups(&served, headers)),
        ["api", version] => discovery::resources(&served, "", version),
        ["apis", group] => discovery::group(&served, group),
        ["apis", group, version] => discovery::resources(&served, group, version),
        _ => None,
    };
    found.ok_or_else(|| unserved(is_builtin))
}

/// What nothing is served at: below a built-in group a Status, else a path that nobody knows.
fn unserved(is_builtin: bool) -> Status {
    if is_builtin { Status::no_such_resource() } else { no_such_path() }
}

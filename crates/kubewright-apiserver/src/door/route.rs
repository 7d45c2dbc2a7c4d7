//! Which handler a path leads to.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response, StatusCode, header, request::Parts};
use tokio_util::sync::CancellationToken;

use super::{health::health, in_flight::InFlight, metrics::metrics};
use crate::{
    admission::Warnings,
    auth::Authenticator,
    discovery,
    error::Status,
    fault::Verdict,
    openapi,
    resource::{self, Call},
    server::Shared,
    wire::{Accept, Body, Query, RequestInfo, ResourceInfo, Verb, json_response, text_response},
};

/// What a door knows.
#[derive(Debug, Clone)]
pub(super) struct Door {
    pub(super) shared: Arc<Shared>,
    pub(super) authenticator: Authenticator,
    /// Fires when the door closes.
    pub(super) closing: CancellationToken,
    /// `None`: whoever asks limits himself.
    pub(super) in_flight: Option<InFlight>,
}

/// Finds the handler of a request and answers it.
pub(super) async fn route(
    door: &Door,
    parts: &Parts,
    info: RequestInfo,
    query: Query,
    body: Bytes,
    verdict: Verdict,
) -> Response<Body> {
    let Some(resource) = info.resource else {
        return fixed(door, parts, &info.path);
    };
    let warnings = Arc::new(Warnings::default());
    let told = warnings.clone();
    let request = ResourceRequest { parts, verb: info.verb, resource, query, body, verdict, warnings };
    let mut response = match request.answer(door).await {
        Ok(response) => response,
        // A path that no route leads to is answered by the router, which has never heard of Status.
        Err(status) if status.code == StatusCode::NOT_FOUND && status.message.is_empty() => not_found(),
        Err(status) => json_response(&status),
    };
    for warning in told.headers() {
        response.headers_mut().append(header::WARNING, warning);
    }
    response
}

struct ResourceRequest<'a> {
    parts: &'a Parts,
    verb: Verb,
    resource: ResourceInfo,
    query: Query,
    body: Bytes,
    verdict: Verdict,
    warnings: Arc<Warnings>,
}

impl ResourceRequest<'_> {
    async fn answer(self, door: &Door) -> Result<Response<Body>, Status> {
        let registry = door.shared.registry();
        let (group, version, plural) =
            (&self.resource.group, &self.resource.version, &self.resource.resource);
        let Some(kind) = registry.find(group, version, plural) else {
            return Err(no_such_path(registry.is_builtin(group)));
        };
        let accept = Accept::negotiate(&self.parts.headers, &self.query)?;
        let call = Call {
            shared: door.shared.clone(),
            kind: kind.clone(),
            verb: self.verb,
            info: self.resource,
            headers: self.parts.headers.clone(),
            query: self.query,
            body: self.body,
            accept,
            warnings: self.warnings,
            closing: door.closing.clone(),
            cut_after: self.verdict.cut_after,
            cut: self.verdict.cut,
        };
        let now = door.shared.clock.now();
        call.handle().await.map(|reply| reply.render(accept, now))
    }
}

/// Paths that are no resources: health, version, discovery and OpenAPI.
fn fixed(door: &Door, parts: &Parts, path: &str) -> Response<Body> {
    let registry = door.shared.registry();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let is_builtin = match segments.as_slice() {
        ["api", ..] => true,
        ["apis", group, ..] => registry.is_builtin(group),
        _ => false,
    };
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return if is_builtin { json_response(&Status::method_not_allowed()) } else { not_found() };
    }
    let found = match segments.as_slice() {
        [""] => Some(discovery::index(&registry)),
        [endpoint @ ("healthz" | "livez" | "readyz"), check @ ..] => {
            health(endpoint, check, parts.uri.query())
        }
        ["metrics"] => Some(metrics(&door.shared)),
        [".well-known", "openid-configuration"] => Some(discovery::openid_configuration()),
        ["openid", "v1", "jwks"] => Some(discovery::openid_keys()),
        ["openapi", "v2"] => Some(openapi::v2(&parts.headers)),
        ["version"] => Some(discovery::version()),
        ["openapi", "v3"] => Some(openapi::index(&registry)),
        ["openapi", "v3", "api", version] => openapi::document(&registry, "", version),
        ["openapi", "v3", "apis", group, version] => openapi::document(&registry, group, version),
        ["api"] => Some(discovery::core(&registry, &parts.headers)),
        ["apis"] => Some(discovery::groups(&registry, &parts.headers)),
        ["api", version] => discovery::resources(&registry, "", version),
        ["apis", group] => discovery::group(&registry, group),
        ["apis", group, version] => discovery::resources(&registry, group, version),
        _ => None,
    };
    found.unwrap_or_else(|| match no_such_path(is_builtin) {
        status if status.message.is_empty() => not_found(),
        status => json_response(&status),
    })
}

/// What nothing is served at: below a built-in group a Status, else a path that nobody knows.
fn no_such_path(is_builtin: bool) -> Status {
    if is_builtin { Status::no_such_resource() } else { resource::no_such_path() }
}

/// Source: apiserver `routes` over `http.NotFound`.
fn not_found() -> Response<Body> {
    text_response(StatusCode::NOT_FOUND, "404 page not found\n")
}

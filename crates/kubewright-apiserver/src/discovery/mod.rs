//! Documents about what is served at this moment.

mod aggregated;
mod legacy;
mod paths;

use http::{HeaderMap, Response, StatusCode};

use crate::{
    kind::Served,
    value::{Value, json},
    wire::{Body, clauses, respond},
};
use aggregated::Version;

pub(crate) use legacy::{group, resources};
pub(crate) use paths::{index, openid_configuration, openid_keys};

/// `/api`: the core group.
pub(crate) fn core(served: &Served, headers: &HeaderMap) -> Response<Body> {
    negotiated(headers, |version| aggregated::core(served, version), legacy::core)
}

/// `/apis`: all other groups.
pub(crate) fn groups(served: &Served, headers: &HeaderMap) -> Response<Body> {
    negotiated(headers, |version| aggregated::groups(served, version), || legacy::groups(served))
}

/// `/version`.
pub(crate) fn version() -> Response<Body> {
    json_of(&json!({
        "major": "1",
        "minor": MINOR,
        "gitVersion": format!("v1.{MINOR}.0+kubewright"),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    }))
}

/// The Kubernetes release whose behaviour is followed.
const MINOR: &str = "37";

/// The aggregated document if the client knows it, else the old one.
fn negotiated(
    headers: &HeaderMap,
    aggregated: impl Fn(Version) -> Value,
    legacy: impl Fn() -> Value,
) -> Response<Body> {
    let Some(version) = Version::negotiate(clauses(headers)) else { return json_of(&legacy()) };
    let text = aggregated(version).to_string();
    let tag = crate::openapi::hash(text.as_bytes());
    let tag = format!("\"{tag}\"");
    let known =
        headers.get(http::header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if known {
        respond(StatusCode::NOT_MODIFIED, version.content_type(), Body::full(""))
    } else {
        respond(StatusCode::OK, version.content_type(), Body::full(text))
    };
    if let Ok(tag) = tag.parse() {
        response.headers_mut().insert(http::header::ETAG, tag);
    }
    response.headers_mut().insert(http::header::VARY, http::HeaderValue::from_static("Accept"));
    response
}

fn json_of(value: &Value) -> Response<Body> {
    respond(StatusCode::OK, "application/json", Body::full(value.to_string()))
}

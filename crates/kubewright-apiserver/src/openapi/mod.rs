//! OpenAPI documents, made of the rows that are served and of what is known of their fields, when somebody asks for them.
//!
//! Version 3 has a document per group and version, version 2 has one of everything. Both say the same: which fields objects
//! have, how they are patched, and what may be asked. What fields are for is not told.

mod builtin;
mod custom;
mod document;
mod gnostic;
mod operations;
mod required;
mod swagger;

use std::hash::{DefaultHasher, Hasher};

use http::{HeaderMap, Response, StatusCode, header};

use crate::{
    kind::{GroupVersion, Served},
    value::{Map, json},
    wire::{Body, respond},
};

/// `/openapi/v3`: where the documents are.
pub(crate) fn index(served: &Served) -> Response<Body> {
    let mut paths = Map::new();
    for group in served.groups() {
        for version in &group.versions {
            let path = document::path_of(&group.name, &version.version);
            let url = format!("/openapi/v3/{path}?hash={}", version_hash(version));
            paths.insert(path.into(), json!({"serverRelativeURL": url}));
        }
    }
    respond(StatusCode::OK, "application/json", Body::full(json!({"paths": paths}).to_string()))
}

/// `/openapi/v3/api/v1`, `/openapi/v3/apis/GROUP/VERSION`.
pub(crate) fn document(served: &Served, group: &str, version: &str) -> Option<Response<Body>> {
    let found = served.group(group)?.version(version)?;
    let text = found.document.get(|| document::of(&found.kinds).to_string().into());
    let mut response = respond(StatusCode::OK, "application/json", Body::full(text));
    if let Ok(tag) = format!("\"{}\"", version_hash(found)).parse() {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response.headers_mut().insert(header::VARY, header::HeaderValue::from_static("Accept"));
    Some(response)
}

/// `/openapi/v2`: everything in one document, for clients of former years and for those that check a `List`.
pub(crate) fn v2(served: &Served, headers: &HeaderMap) -> Response<Body> {
    let swagger = || {
        let versions = served.groups().iter().flat_map(|group| &group.versions);
        swagger::of(versions.map(|version| document::of(&version.kinds)))
    };
    let [as_json, as_protobuf] = &served.documents;
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("proto-openapi.spec.v2") {
        respond(StatusCode::OK, PROTOBUF, Body::full(as_protobuf.get(|| gnostic::encode(&swagger()).into())))
    } else {
        respond(StatusCode::OK, "application/json", Body::full(as_json.get(|| swagger().to_string().into())))
    }
}

const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// A text that changes with the document of a version, and is had without making it.
fn version_hash(version: &GroupVersion) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    for kind in &version.kinds {
        hasher.write(document::identity(kind).as_bytes());
    }
    format!("{:016X}", hasher.finish())
}

/// A short text that changes with `bytes`, for `ETag`s.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("{:016X}", hasher.finish())
}

//! OpenAPI v3 documents: as much as kubectl needs to create and apply.
//!
//! A document tells which kinds a group version has, that the server validates fields, and which patches it
//! understands. Custom resources show their schema; built-in kinds do not have one here yet, so that
//! `kubectl explain` knows their names only.

mod custom;

use std::hash::{DefaultHasher, Hasher};

use http::{HeaderMap, Response, StatusCode, header};

use crate::{
    kind::{Kind, Served},
    value::{Map, Value, json},
    wire::{Body, PATCH_TYPES, respond},
};

/// `/openapi/v3`: where the documents are.
pub(crate) fn index(served: &Served) -> Response<Body> {
    let mut paths = Map::new();
    for group in served.groups() {
        for version in &group.versions {
            let path = path_of(&group.name, &version.version);
            let document = document_of(&version.kinds).to_string();
            let url = format!("/openapi/v3/{path}?hash={}", hash(document.as_bytes()));
            paths.insert(path.into(), json!({"serverRelativeURL": url}));
        }
    }
    respond(StatusCode::OK, "application/json", Body::full(json!({"paths": paths}).to_string()))
}

/// `/openapi/v3/api/v1`, `/openapi/v3/apis/GROUP/VERSION`.
pub(crate) fn document(served: &Served, group: &str, version: &str) -> Option<Response<Body>> {
    let found = served.group(group)?.version(version)?;
    let document = document_of(&found.kinds).to_string();
    Some(respond(StatusCode::OK, "application/json", Body::full(document)))
}

/// `/openapi/v2`: a document without schemas. Clients that read it, older ones and those that check a `List`, check
/// nothing then.
///
/// Source: `gnostic` `openapi_v2.Document` for the field numbers.
pub(crate) fn v2(headers: &HeaderMap) -> Response<Body> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !accept.contains("proto-openapi.spec.v2") {
        let document = json!({
            "swagger": "2.0", "info": {"title": TITLE, "version": VERSION}, "paths": {}, "definitions": {},
        });
        return respond(StatusCode::OK, "application/json", Body::full(document.to_string()));
    }
    let field = |number: u8, bytes: &[u8]| {
        // All of them are short, so that a length is one byte.
        let length = u8::try_from(bytes.len()).unwrap_or_default();
        [&[number << 3 | 2, length], bytes].concat()
    };
    let info = [field(1, TITLE.as_bytes()), field(2, VERSION.as_bytes())].concat();
    let document = [field(1, b"2.0"), field(2, &info), field(8, &[]), field(9, &[])].concat();
    respond(
        StatusCode::OK,
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
        Body::full(document),
    )
}

const TITLE: &str = "Kubernetes";
const VERSION: &str = "unversioned";

/// A short text that changes with `bytes`, for `ETag`s.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("{:016X}", hasher.finish())
}

fn document_of(kinds: &[std::sync::Arc<Kind>]) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for kind in kinds {
        let identity = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
        let base = format!("/{}", path_of(&kind.group, &kind.version));
        let scope = if kind.is_namespaced() { "/namespaces/{namespace}" } else { "" };
        let collection = format!("{base}{scope}/{}", kind.plural);
        let operation = |action: &str| {
            json!({
                "x-kubernetes-action": action,
                "x-kubernetes-group-version-kind": identity,
                "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"description": "OK"}},
            })
        };
        let mut patch = operation("patch");
        let any_object = json!({"schema": {"type": "object"}});
        let contents = PATCH_TYPES.iter().map(|media_type| ((*media_type).to_owned(), any_object.clone()));
        patch["requestBody"] = json!({"content": contents.collect::<Map>()});
        paths.insert(format!("{collection}/{{name}}").into(), json!({
            "get": operation("get"), "put": operation("put"), "patch": patch, "delete": operation("delete"),
        }));
        paths.insert(collection.into(), json!({"get": operation("list"), "post": operation("post")}));
        let name = schema_name(kind);
        if kind.is_custom {
            schemas.extend(custom::schemas(kind, &name));
            schemas.extend(custom::metadata());
        } else {
            schemas.insert(
                name.into(),
                json!({
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "x-kubernetes-group-version-kind": [identity],
                }),
            );
        }
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

/// `com.example.v1.Widget`, `io.k8s.api.apps.v1.Deployment`.
fn schema_name(kind: &Kind) -> String {
    if kind.is_custom {
        let reversed: Vec<&str> = kind.group.rsplit('.').collect();
        return format!("{}.{}.{}", reversed.join("."), kind.version, kind.kind);
    }
    let group = kind.group.split('.').next().filter(|group| !group.is_empty()).unwrap_or("core");
    format!("io.k8s.api.{group}.{}.{}", kind.version, kind.kind)
}

fn path_of(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

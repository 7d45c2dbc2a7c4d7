//! Documents about the server as a whole: which paths it has, and who issues its tokens.

use http::{Response, StatusCode};

use crate::{
    kind::Served,
    value::{Value, json},
    wire::{Body, respond},
};

/// `/`: where there is something to read.
///
/// Source: apiserver `routes.Index`.
pub(crate) fn index(served: &Served) -> Response<Body> {
    let mut paths: Vec<String> = FIXED.iter().map(|path| (*path).to_owned()).collect();
    for group in served.groups() {
        let base = if group.name.is_empty() { "/api".to_owned() } else { format!("/apis/{}", group.name) };
        paths.extend(group.versions.iter().map(|version| format!("{base}/{}", version.version)));
        paths.push(base);
    }
    paths.sort_unstable();
    json_document("application/json", &json!({"paths": paths}))
}

/// `/.well-known/openid-configuration`.
///
/// Source: kubernetes `serviceaccount.NewOpenIDMetadata`.
pub(crate) fn openid_configuration() -> Response<Body> {
    json_document(
        "application/json",
        &json!({
            "issuer": "https://kubernetes.default.svc",
            "jwks_uri": "https://kubernetes.default.svc/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }),
    )
}

/// `/openid/v1/jwks`: no token is issued yet, so that there is no key to check one with.
pub(crate) fn openid_keys() -> Response<Body> {
    json_document("application/jwk-set+json", &json!({"keys": []}))
}

fn json_document(content_type: &'static str, value: &Value) -> Response<Body> {
    respond(StatusCode::OK, content_type, Body::full(value.to_string()))
}

const FIXED: &[&str] = &[
    "/.well-known/openid-configuration",
    "/apis",
    "/healthz",
    "/livez",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openid/v1/jwks",
    "/readyz",
    "/version",
];

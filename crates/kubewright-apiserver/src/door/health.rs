//! Whether the server is well, as probes and people ask.

use http::{Response, StatusCode};

use crate::{
    context::Query,
    wire::{Body, respond},
};

/// `/healthz`, `/livez` and `/readyz`, or one check of them. A server that answers is well.
///
/// Source: apiserver `server/healthz.handleRootHealth`.
pub(super) fn health(endpoint: &str, check: &[&str], query: &Query) -> Option<Response<Body>> {
    let ready_only: &[&str] = if endpoint == "readyz" { &["informer-sync", "shutdown"] } else { &[] };
    let checks = CHECKS.iter().chain(ready_only).copied();
    let text = match check {
        [] if query.first("verbose").is_some() => {
            let is_excluded = |name: &str| query.all("exclude").any(|excluded| excluded == name);
            let lines = checks.map(|name| {
                let outcome = if is_excluded(name) { "excluded: ok" } else { "ok" };
                format!("[+]{name} {outcome}\n")
            });
            format!("{}{endpoint} check passed\n", lines.collect::<String>())
        }
        [] => "ok".to_owned(),
        [name] if checks.into_iter().any(|check| check == *name) => "ok".to_owned(),
        _ => return None,
    };
    Some(respond(StatusCode::OK, "text/plain; charset=utf-8", Body::full(text)))
}

const CHECKS: &[&str] = &["ping", "log", "etcd"];

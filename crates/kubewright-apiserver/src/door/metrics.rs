//! `/metrics`: what is known about the server, in the text format of Prometheus.

use std::fmt::Write;

use http::{Response, StatusCode};

use crate::{
    registry::Cluster,
    wire::{Body, respond},
};

/// How many objects there are of each resource.
///
/// Source: apiserver `storage/etcd3/metrics`, whose names these are.
pub(super) fn metrics(cluster: &Cluster) -> Response<Body> {
    let mut text = String::from(
        "# HELP apiserver_resource_objects [ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.\n# TYPE apiserver_resource_objects gauge\n",
    );
    let served = cluster.served();
    let mut counted = Vec::new();
    for (_, kind) in served.all() {
        // Versions of one resource share their objects.
        if counted.contains(&&kind.prefix) {
            continue;
        }
        counted.push(&kind.prefix);
        let count = cluster.store.snapshot(&kind.prefix).objects.len();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "apiserver_resource_objects{{group=\"{}\",resource=\"{}\"}} {count}",
            kind.group, kind.plural
        );
    }
    respond(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", Body::full(text))
}

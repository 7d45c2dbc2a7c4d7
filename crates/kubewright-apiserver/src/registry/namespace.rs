//! What namespaces mean for other objects.

use super::cluster::Cluster;
use crate::{
    error::Status,
    kind::Kind,
    object::CodecError,
    storage::{Guard, Key},
    value::{Value, json},
};

/// New objects need a namespace that is there to stay. The guard says that it still is when they are committed.
///
/// Source: apiserver `admission/plugin/namespace/lifecycle`.
pub(super) fn check_accepts(
    cluster: &Cluster,
    kind: &Kind,
    namespace: &str,
    name: &str,
) -> Result<Guard, Status> {
    let key = Key::new("", namespace);
    let Some(document) = cluster.store.get(PREFIX, &key) else {
        return Err(Status::namespace_not_found(namespace));
    };
    let metadata: Value = serde_json::from_slice(document.metadata()).map_err(CodecError::Unreadable)?;
    if metadata["deletionTimestamp"].is_null() {
        return Ok(Guard { prefix: PREFIX, key, revision: document.revision() });
    }
    let cause =
        format!("unable to create new content in namespace {namespace} because it is being terminated");
    let terminating = json!([{
        "reason": "NamespaceTerminating", "field": "metadata.namespace",
        "message": format!("namespace {namespace} is being terminated"),
    }]);
    Err(Status::forbidden(kind, name, &cause).with("causes", terminating))
}

const PREFIX: &str = "/namespaces";

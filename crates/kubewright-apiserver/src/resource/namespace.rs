//! What namespaces mean for other objects, and the ones that always exist.

use http::StatusCode;
use serde_json::{Value, json};

use super::metadata;
use crate::{
    kind::Kind,
    object::Object,
    server::Shared,
    storage::{Guard, Key},
    wire::Status,
};

/// The namespaces that every cluster has.
const INITIAL: &[&str] = &["default", "kube-node-lease", "kube-public", "kube-system"];

/// Namespaces that cannot be deleted.
const IMMORTAL: &[&str] = &["default", "kube-public", "kube-system"];

/// Makes the namespaces that every cluster has.
pub(crate) fn create_initial(shared: &Shared) {
    let registry = shared.registry();
    let Some(kind) = registry.find("", "v1", "namespaces") else { return };
    for name in INITIAL {
        let value = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let mut object = Object(value.as_object().cloned().unwrap_or_default());
        metadata::before_create(shared, kind, &mut object);
        // The store is empty, so that no name is taken.
        let _ = shared.store.create(&kind.prefix, &Key::new("", name), &object.encode(), &[]);
    }
}

/// New objects need a namespace that is there to stay. The guard says that it still is when they are committed.
///
/// Source: apiserver `admission/plugin/namespace/lifecycle`.
pub(super) fn check_accepts(
    shared: &Shared,
    kind: &Kind,
    namespace: &str,
    name: &str,
) -> Result<Guard, Status> {
    let key = Key::new("", namespace);
    let Some(document) = shared.store.get(PREFIX, &key) else {
        return Err(Status::namespace_not_found(namespace));
    };
    let metadata: Value = serde_json::from_slice(document.metadata()).unwrap_or_default();
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

/// Some namespaces may not be deleted.
pub(super) fn check_mortal(kind: &Kind, name: &str) -> Result<(), Status> {
    if kind.is("", "namespaces") && IMMORTAL.contains(&name) {
        let message = format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
        return Err(Status::new(StatusCode::FORBIDDEN, "Forbidden", message).about(kind, name));
    }
    Ok(())
}

const PREFIX: &str = "/namespaces";

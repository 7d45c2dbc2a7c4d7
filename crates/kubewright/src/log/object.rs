//! Objects as fields of log lines.

use std::fmt;

use kube::Resource;
use serde::Serialize;

/// What a log line says of an object: which one it is, and nothing of what it holds.
///
/// Source: controller-runtime `log/zap.KubeAwareEncoder`.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggedObject {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
}

/// The object as a field: `{apiVersion, kind, namespace, name}`, which is an object of its own in JSON lines.
///
/// # Example: a line about an object
/// ```
/// use kubewright::{k8s_openapi::api::core::v1::Secret, tracing};
///
/// fn rotated(secret: &Secret) {
///     // In full: inside of the macros `log` may be another crate.
///     tracing::info!(secret = ?kubewright::log::object(secret), "rotated");
/// }
/// ```
pub fn object<K: Resource<DynamicType: Default>>(object: &K) -> LoggedObject {
    let dynamic = K::DynamicType::default();
    let metadata = object.meta();
    LoggedObject {
        api_version: K::api_version(&dynamic).into_owned(),
        kind: K::kind(&dynamic).into_owned(),
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone().unwrap_or_default(),
    }
}

impl fmt::Debug for LoggedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// How the text of a [`LoggedObject`] begins, by which JSON lines know it.
pub(super) const BEGINNING: &str = r#"{"apiVersion":"#;

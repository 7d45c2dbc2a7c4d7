//! A kubeconfig.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;

/// A kubeconfig with one cluster, one user and one context. JSON is YAML, and every client reads it.
pub(super) fn kubeconfig(url: &str, ca: Option<&str>, token: &str) -> String {
    let mut cluster = json!({"server": url});
    if let Some(ca) = ca {
        cluster["certificate-authority-data"] = STANDARD.encode(ca).into();
    }
    let value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": "default"}}],
        "current-context": NAME,
    });
    // Block YAML for people; should the writer ever refuse a value, its JSON is read by every client as well.
    serde_saphyr::to_string(&value).unwrap_or_else(|_| value.to_string())
}

const NAME: &str = "kubewright";

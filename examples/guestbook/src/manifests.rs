//! What a cluster has to know of guestbooks, for `kubectl apply -f -`.

use kube::CustomResourceExt as _;
use kubewright::webhook::WebhookConfigurations;
use serde_json::{Value, json};

use crate::{Guestbook, webhooks};

/// The definition; and the configurations of the webhooks, if they are behind a Service of this namespace.
pub fn list(webhook_namespace: Option<&str>) -> anyhow::Result<Value> {
    let mut items = vec![serde_json::to_value(Guestbook::crd())?];
    if let Some(namespace) = webhook_namespace {
        let WebhookConfigurations { mutating, validating, .. } = webhooks::configurations(namespace)?;
        items.extend(mutating.map(serde_json::to_value).transpose()?);
        items.extend(validating.map(serde_json::to_value).transpose()?);
    }
    Ok(json!({ "apiVersion": "v1", "kind": "List", "items": items }))
}

//! Where the API server looks for the CAs that it is to trust: webhook configurations, and the conversion of definitions.

use base64::{Engine, engine::general_purpose::STANDARD};
use k8s_openapi::jiff::Timestamp;
use kube::core::ApiResource;
use serde_json::Value;

use super::certificate::Certificate;

/// An object that tells the API server which webhooks to call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WebhookTarget {
    /// A `MutatingWebhookConfiguration`, by name.
    Mutating(String),
    /// A `ValidatingWebhookConfiguration`, by name.
    Validating(String),
    /// A `CustomResourceDefinition` that is converted by webhook, by name.
    Definition(String),
}

impl WebhookTarget {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Mutating(name) | Self::Validating(name) | Self::Definition(name) => name,
        }
    }

    pub(super) fn resource(&self) -> ApiResource {
        let (group, kind, plural) = match self {
            Self::Mutating(_) => (ADMISSION, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
            Self::Validating(_) => {
                (ADMISSION, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations")
            }
            Self::Definition(_) => {
                ("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions")
            }
        };
        ApiResource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            api_version: format!("{group}/v1"),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        }
    }
}

/// Which webhooks of an object are ours.
#[derive(Clone, Debug)]
pub(super) struct Ours {
    pub(super) namespace: String,
    pub(super) service: String,
    /// The names of our certificate, for webhooks that are called by URL.
    pub(super) names: Vec<String>,
}

impl Ours {
    /// Has the API server trust `authorities` where it calls us, and says whether that changed the object.
    ///
    /// A CA that is newer than ours stays: another replica has put it there, and knows more than this one.
    pub(super) fn inject(&self, object: &mut Value, authorities: &[Certificate], now: Timestamp) -> bool {
        let mut changed = false;
        let webhooks = object.pointer_mut("/webhooks").and_then(Value::as_array_mut).map(Vec::as_mut_slice);
        for client in
            webhooks.unwrap_or_default().iter_mut().filter_map(|webhook| webhook.get_mut("clientConfig"))
        {
            changed |= self.inject_client(client, authorities, now);
        }
        if let Some(client) = object.pointer_mut("/spec/conversion/webhook/clientConfig") {
            changed |= self.inject_client(client, authorities, now);
        }
        changed
    }

    fn inject_client(&self, client: &mut Value, authorities: &[Certificate], now: Timestamp) -> bool {
        if !self.is_called_by(client) {
            return false;
        }
        let present = client["caBundle"].as_str().unwrap_or_default();
        let present = Certificate::read_all(&STANDARD.decode(present).unwrap_or_default());
        let newest = authorities.first();
        let is_newer = |other: &&Certificate| {
            newest.is_some_and(|newest| {
                other.is_ca
                    && other.is_named_as(newest)
                    && other.life.not_before > newest.life.not_before
                    && now <= other.life.not_after
            })
        };
        let wanted: Vec<_> = present.iter().filter(is_newer).chain(authorities).cloned().collect();
        if present == wanted {
            return false;
        }
        let text: String = wanted.iter().map(Certificate::pem).collect();
        client["caBundle"] = STANDARD.encode(text).into();
        true
    }

    fn is_called_by(&self, client: &Value) -> bool {
        if let Some(service) = client.get("service").filter(|service| !service.is_null()) {
            return service["namespace"] == *self.namespace && service["name"] == *self.service;
        }
        let url = client["url"].as_str().and_then(|url| url.parse::<http::Uri>().ok());
        let host = url.as_ref().and_then(http::Uri::host).unwrap_or_default();
        self.names.iter().any(|name| name == host)
    }
}

const ADMISSION: &str = "admissionregistration.k8s.io";

//! The webhooks of one kind.

use std::{marker::PhantomData, sync::Arc};

use serde::Serialize;

use super::{
    WebhookServer,
    admission::{AdmissionEndpoint, Chain, Defaulter, Defaulting, Handler, Validating, Validator},
    metrics::admission_panics,
};
use crate::{
    http_server::RegisterError,
    object::{Kind, Object},
};

/// Declares the webhooks of one kind, at the paths that kubebuilder's manifests name.
///
/// Defaulters run one after the other, and each sees what those before it did; so do validators.
///
/// # Example: defaults for a kind
/// ```
/// use std::convert::Infallible;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright::webhook::{Webhook, WebhookServer, admission::{AdmissionRequest, Defaulter}};
///
/// struct Labels;
///
/// impl Defaulter<ConfigMap> for Labels {
///     type Error = Infallible;
///
///     async fn default(&self, _: &AdmissionRequest, map: &mut ConfigMap) -> Result<(), Infallible> {
///         map.metadata.labels.get_or_insert_default().insert("seen".into(), "yes".into());
///         Ok(())
///     }
/// }
///
/// let server = WebhookServer::default();
/// Webhook::<ConfigMap>::builder().defaulter(Labels).register(&server)?;
/// # Ok::<(), kubewright::http_server::RegisterError>(())
/// ```
///
/// Source: controller-runtime `builder.WebhookManagedBy`.
#[derive(Debug)]
#[must_use = "webhooks are served once they are registered"]
pub struct Webhook<T> {
    mutating: Option<Chain>,
    validating: Option<Chain>,
    kind: PhantomData<fn(T)>,
}

impl<T: Object> Webhook<T> {
    /// Webhooks of the kind `T`: none yet.
    pub fn builder() -> Self {
        Self { mutating: None, validating: None, kind: PhantomData }
    }

    /// Fills in what clients leave out.
    pub fn defaulter(self, defaulter: impl Defaulter<T>) -> Self
    where
        T: Serialize,
    {
        self.mutating_handler(Defaulting(defaulter, PhantomData))
    }

    /// Refuses what is wrong.
    pub fn validator(self, validator: impl Validator<T>) -> Self {
        self.validating_handler(Validating(validator, PhantomData))
    }

    /// Changes objects without their type.
    pub fn mutating_handler(mut self, handler: impl Handler) -> Self {
        self.mutating = Some(self.mutating.unwrap_or_default().then(handler));
        self
    }

    /// Refuses objects without their type.
    pub fn validating_handler(mut self, handler: impl Handler) -> Self {
        self.validating = Some(self.validating.unwrap_or_default().then(handler));
        self
    }

    /// Serves them: `/mutate-<group>-<version>-<kind>` and `/validate-…`, with `-` for each dot of the group.
    ///
    /// # Errors
    /// [`RegisterError::Taken`] if something is served there already.
    pub fn register(self, server: &WebhookServer) -> Result<(), RegisterError> {
        let panics = admission_panics(server.metrics_registry());
        for (verb, chain) in [("mutate", self.mutating), ("validate", self.validating)] {
            if let Some(chain) = chain {
                let endpoint = AdmissionEndpoint::new(chain, panics.clone());
                server.mount(&path(verb, &Kind::of::<T>()), Arc::new(endpoint))?;
            }
        }
        Ok(())
    }
}

fn path(verb: &str, kind: &Kind) -> String {
    let group = kind.group().replace('.', "-");
    format!("/{verb}-{group}-{}-{}", kind.version(), kind.kind().to_lowercase())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{core::v1::Pod, networking::v1::NetworkPolicy};

    use super::*;

    #[test]
    fn paths_are_those_of_kubebuilder() {
        assert_eq!(path("mutate", &Kind::of::<Pod>()), "/mutate--v1-pod");
        let policy = Kind::of::<NetworkPolicy>();
        assert_eq!(path("validate", &policy), "/validate-networking-k8s-io-v1-networkpolicy");
    }
}

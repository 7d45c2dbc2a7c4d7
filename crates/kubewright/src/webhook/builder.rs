//! The webhooks of one kind.

use std::{marker::PhantomData, sync::Arc};

use serde::Serialize;

use super::{
    WebhookServer,
    admission::{AdmissionEndpoint, Chain, Defaulter, Defaulting, Handler, Validating, Validator},
    declaration::{Declared, Role, WebhookDeclaration},
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
    mutating_declaration: WebhookDeclaration,
    validating_declaration: WebhookDeclaration,
    kind: PhantomData<fn(T)>,
}

impl<T: Object> Webhook<T> {
    /// Webhooks of the kind `T`: none yet.
    pub fn builder() -> Self {
        Self {
            mutating: None,
            validating: None,
            mutating_declaration: WebhookDeclaration::default(),
            validating_declaration: WebhookDeclaration::default(),
            kind: PhantomData,
        }
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

    /// Says how defaulters and mutating handlers are declared: their path, when they are called, for which objects.
    ///
    /// # Example: defaults for new objects alone, in namespaces that ask for them
    /// ```
    /// # use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::LabelSelector};
    /// use kubewright::webhook::{Webhook, admission::Operation};
    ///
    /// let webhook = Webhook::<ConfigMap>::builder().declare_mutating(|declaration| {
    ///     declaration.operations = vec![Operation::Create];
    ///     let labels = [("defaults".to_owned(), "enabled".to_owned())].into();
    ///     declaration.namespace_selector = Some(LabelSelector { match_labels: Some(labels), ..LabelSelector::default() });
    /// });
    /// # let _ = webhook;
    /// ```
    pub fn declare_mutating(mut self, change: impl FnOnce(&mut WebhookDeclaration)) -> Self {
        change(&mut self.mutating_declaration);
        self
    }

    /// Says how validators and validating handlers are declared.
    ///
    /// A validator that judges deletions has to be called for them: add [`Operation::Delete`](super::admission::Operation::Delete).
    pub fn declare_validating(mut self, change: impl FnOnce(&mut WebhookDeclaration)) -> Self {
        change(&mut self.validating_declaration);
        self
    }

    /// Serves them. [`WebhookServer::configurations`] then has the API server call them.
    ///
    /// # Errors
    /// [`RegisterError`] if something is served at a path already, or a path of one's own is none.
    pub fn register(self, server: &WebhookServer) -> Result<(), RegisterError> {
        let panics = admission_panics(server.metrics_registry());
        for (role, chain, declaration) in [
            (Role::Mutating, self.mutating, self.mutating_declaration),
            (Role::Validating, self.validating, self.validating_declaration),
        ] {
            if let Some(chain) = chain {
                let endpoint = AdmissionEndpoint::new(chain, panics.clone());
                let declared = Declared { role, kind: Kind::of::<T>(), declaration };
                server.mount(&declared.path(), Arc::new(endpoint))?;
                server.note_declared(declared);
            }
        }
        Ok(())
    }
}

//! What has the API server call the webhooks of a server.

use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{
        MutatingWebhookConfiguration, ServiceReference, ValidatingWebhookConfiguration, WebhookClientConfig,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        CustomResourceConversion, ServiceReference as ConversionService,
        WebhookClientConfig as ConversionClientConfig, WebhookConversion,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::{
    conversion::CONVERT_PATH,
    declaration::{Declared, Role},
};

/// The configurations that have the API server call what is registered at a server. Each is `None` if there is nothing in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WebhookConfigurations {
    /// `<name>-mutating-webhook-configuration`.
    pub mutating: Option<MutatingWebhookConfiguration>,
    /// `<name>-validating-webhook-configuration`.
    pub validating: Option<ValidatingWebhookConfiguration>,
}

/// How the API server reaches a webhook server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebhookAddress {
    /// Through a Service, at its port 443.
    Service {
        /// The namespace of the Service.
        namespace: String,
        /// The name of the Service.
        name: String,
    },
    /// At a URL without a path, such as `https://host:9443`: a server outside of the cluster.
    Url {
        /// The URL.
        base: String,
        /// Who vouches for its certificate, PEM.
        ca_bundle: Vec<u8>,
    },
}

impl WebhookConfigurations {
    pub(super) fn new(name: &str, address: &WebhookAddress, declared: &[Declared]) -> Self {
        let with = |role| declared.iter().filter(move |declared| declared.role == role);
        let metadata = |role| ObjectMeta {
            name: Some(format!("{name}-{role}-webhook-configuration")),
            ..ObjectMeta::default()
        };
        let client = |declared: &Declared| address.client(declared.path());
        let mutating: Vec<_> = with(Role::Mutating).map(|one| one.mutating(client(one))).collect();
        let validating: Vec<_> = with(Role::Validating).map(|one| one.validating(client(one))).collect();
        Self {
            mutating: (!mutating.is_empty()).then(|| MutatingWebhookConfiguration {
                metadata: metadata("mutating"),
                webhooks: Some(mutating),
            }),
            validating: (!validating.is_empty()).then(|| ValidatingWebhookConfiguration {
                metadata: metadata("validating"),
                webhooks: Some(validating),
            }),
        }
    }
}

impl WebhookAddress {
    /// What has the API server convert a kind here: for `spec.conversion` of its definition.
    ///
    /// # Example: a definition of two versions
    /// ```
    /// # use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    /// use kubewright::webhook::WebhookAddress;
    ///
    /// # let mut definition = CustomResourceDefinition::default();
    /// let service = WebhookAddress::Service { namespace: "system".into(), name: "webhook-service".into() };
    /// definition.spec.conversion = Some(service.conversion());
    /// ```
    pub fn conversion(&self) -> CustomResourceConversion {
        let WebhookClientConfig { ca_bundle, service, url } = self.client(CONVERT_PATH.to_owned());
        let service = service.map(|ServiceReference { name, namespace, path, port }| ConversionService {
            name,
            namespace,
            path,
            port,
        });
        CustomResourceConversion {
            strategy: "Webhook".to_owned(),
            webhook: Some(WebhookConversion {
                client_config: Some(ConversionClientConfig { ca_bundle, service, url }),
                conversion_review_versions: vec!["v1".to_owned()],
            }),
        }
    }

    fn client(&self, path: String) -> WebhookClientConfig {
        match self.clone() {
            Self::Service { namespace, name } => {
                let service = ServiceReference { namespace, name, path: Some(path), port: None };
                WebhookClientConfig { service: Some(service), ..WebhookClientConfig::default() }
            }
            Self::Url { base, ca_bundle } => WebhookClientConfig {
                ca_bundle: (!ca_bundle.is_empty()).then_some(ByteString(ca_bundle)),
                service: None,
                url: Some(format!("{}{path}", base.trim_end_matches('/'))),
            },
        }
    }
}

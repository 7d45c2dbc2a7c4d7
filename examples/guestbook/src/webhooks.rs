//! What the API server asks before it stores a guestbook.

use kube::{Client, Resource};
use kubewright::{
    BoxError,
    http_server::RegisterError,
    webhook::{
        SelfManagedCertificates, Webhook, WebhookAddress, WebhookConfigurations, WebhookServer,
        WebhookServerOptions, WebhookTarget,
        admission::{AdmissionRequest, Defaulter, Validator, Warnings},
    },
};

use crate::Guestbook;

/// A server for replicas behind the Service [`SERVICE`]. They share certificates, which they make themselves.
pub fn server(
    mut options: WebhookServerOptions,
    client: Client,
    namespace: &str,
) -> Result<WebhookServer, RegisterError> {
    let WebhookConfigurations { mutating, validating, .. } = configurations(namespace)?;
    let mut certificates = SelfManagedCertificates::new(client, namespace, SERVICE);
    certificates.secret = "guestbook-webhook-cert".to_owned();
    certificates.targets.extend(name(mutating).map(WebhookTarget::Mutating));
    certificates.targets.extend(name(validating).map(WebhookTarget::Validating));
    options.self_managed = Some(certificates);
    let server = WebhookServer::new(options);
    register(&server)?;
    Ok(server)
}

/// What has the API server call it.
pub fn configurations(namespace: &str) -> Result<WebhookConfigurations, RegisterError> {
    let server = WebhookServer::default();
    register(&server)?;
    let address = WebhookAddress::Service { namespace: namespace.to_owned(), name: SERVICE.to_owned() };
    Ok(server.configurations("guestbook", &address))
}

fn name(configuration: Option<impl Resource>) -> Option<String> {
    configuration.and_then(|it| it.meta().name.clone())
}

/// The Service in front of the webhooks.
pub const SERVICE: &str = "guestbook";

/// Serves the defaults and the checks of guestbooks.
pub fn register(server: &WebhookServer) -> Result<(), RegisterError> {
    Webhook::<Guestbook>::builder().defaulter(Manners).validator(Manners).register(server)
}

/// What guestbooks say when nobody has said anything, and what they must not be.
struct Manners;

impl Defaulter<Guestbook> for Manners {
    type Error = BoxError;

    async fn default(&self, _: &AdmissionRequest, guestbook: &mut Guestbook) -> Result<(), BoxError> {
        if guestbook.spec.message.is_empty() {
            guestbook.spec.message = "welcome".to_owned();
        }
        Ok(())
    }
}

impl Validator<Guestbook> for Manners {
    type Error = BoxError;

    async fn validate_create(
        &self,
        _: &AdmissionRequest,
        guestbook: &Guestbook,
        warnings: &Warnings,
    ) -> Result<(), BoxError> {
        check(guestbook, warnings)
    }

    async fn validate_update(
        &self,
        _: &AdmissionRequest,
        _: &Guestbook,
        guestbook: &Guestbook,
        warnings: &Warnings,
    ) -> Result<(), BoxError> {
        check(guestbook, warnings)
    }
}

fn check(guestbook: &Guestbook, warnings: &Warnings) -> Result<(), BoxError> {
    let spec = &guestbook.spec;
    if spec.image.is_empty() {
        return Err("spec.image: somebody has to serve the guestbook".into());
    }
    if !(0..=MAX_REPLICAS).contains(&spec.replicas) {
        return Err(format!("spec.replicas: {} is not between 0 and {MAX_REPLICAS}", spec.replicas).into());
    }
    if spec.replicas == 0 {
        warnings.add("spec.replicas: nobody serves the guestbook");
    }
    Ok(())
}

const MAX_REPLICAS: i32 = 50;

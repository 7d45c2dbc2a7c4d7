//! The webhook that converts backups.

use kube::{Client, CustomResourceExt as _};
use kubewright::{
    http_server::RegisterError,
    webhook::{
        SelfManagedCertificates, WebhookAddress, WebhookServer, WebhookServerOptions, WebhookTarget,
        conversion::Conversion,
    },
};

use crate::{v1, v2};

/// Converts backups at `server`.
pub fn register(server: &WebhookServer) -> Result<(), RegisterError> {
    Conversion::<v1::Backup>::hub().spoke::<v2::Backup>().register(server)
}

/// A server for replicas behind the Service [`SERVICE`], with these certificates.
pub fn server(
    mut options: WebhookServerOptions,
    certificates: SelfManagedCertificates,
) -> Result<WebhookServer, RegisterError> {
    options.self_managed = Some(certificates);
    let server = WebhookServer::new(options);
    register(&server)?;
    Ok(server)
}

/// Certificates that the replicas make themselves, and that the definition trusts.
pub fn certificates(client: Client, namespace: &str) -> SelfManagedCertificates {
    SelfManagedCertificates::new(client, namespace, SERVICE)
        .target(WebhookTarget::Definition(v1::Backup::crd_name().to_owned()))
}

/// Where the API server finds it.
pub fn address(namespace: &str) -> WebhookAddress {
    WebhookAddress::Service { namespace: namespace.to_owned(), name: SERVICE.to_owned() }
}

/// The Service in front of it.
pub const SERVICE: &str = "backup-conversion";

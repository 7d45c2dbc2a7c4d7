//! For whom certificates are made, how long they live, and who has to trust them.

use std::{fmt, time::Duration};

use super::injection::WebhookTarget;

/// Certificates that a webhook server makes for itself, so that no second operator is needed.
///
/// All replicas share one Secret. Whoever comes first makes a CA and a serving certificate in it, whoever sees that two thirds of a life are over makes the next
/// one. Each replica has the objects in `targets` trust the CA, before it shows a certificate that the CA has signed. A Secret that was deleted is written
/// again as it was.
///
/// The operator needs the rights to `get`, `create` and `update` the Secret, and to `get` and `update` the targets. A webhook of its own that is called for
/// Secrets should leave this one out by its selectors: while no certificate is valid, the Secret could not be written.
///
/// # Example: a server without cert-manager
/// ```no_run
/// use kubewright::{
///     manager::Manager,
///     webhook::{SelfManagedCertificates, WebhookServer, WebhookServerOptions, WebhookTarget},
/// };
///
/// # async fn example() -> anyhow::Result<()> {
/// let manager = Manager::builder().build().await?;
/// let certificates = SelfManagedCertificates::new(manager.client().kube().clone(), "guestbook-system", "webhook-service")
///     .target(WebhookTarget::Validating("guestbook-validating-webhook".into()));
/// let mut options = WebhookServerOptions::default();
/// options.self_managed = Some(certificates);
/// manager.add(WebhookServer::new(options))?;
/// # Ok(())
/// # }
/// ```
///
/// # Differences from Go
/// controller-runtime leaves certificates to others.
#[derive(Clone)]
#[non_exhaustive]
pub struct SelfManagedCertificates {
    /// With which the Secret and the targets are read and written.
    pub client: kube::Client,
    /// The namespace of the Service and of the Secret.
    pub namespace: String,
    /// The Service that leads to the server. Its certificate is for `<service>.<namespace>.svc`.
    pub service: String,
    /// Default: `webhook-server-cert`, as in kubebuilder's manifests.
    pub secret: String,
    /// What tells the API server to call this server. Those that do not exist are told later, when they do.
    pub targets: Vec<WebhookTarget>,
    /// Other names of the server, for webhooks that are called by URL: DNS names and IP addresses. Default: none.
    pub extra_names: Vec<String>,
    /// How long a CA lives. Default: 365 days.
    pub authority_life: Duration,
    /// How long a serving certificate lives. It ends with its CA at the latest. Default: 90 days.
    pub serving_life: Duration,
    /// How long API servers may take to hear of a new CA after they were told. Default: 1 min.
    pub propagation: Duration,
    /// How often the Secret and the targets are looked at; after a failure sooner. Default: 10 s.
    pub check_interval: Duration,
}

impl SelfManagedCertificates {
    /// Certificates for the server behind a Service.
    pub fn new(client: kube::Client, namespace: impl Into<String>, service: impl Into<String>) -> Self {
        Self {
            client,
            namespace: namespace.into(),
            service: service.into(),
            secret: "webhook-server-cert".to_owned(),
            targets: Vec::new(),
            extra_names: Vec::new(),
            authority_life: 365 * DAY,
            serving_life: 90 * DAY,
            propagation: Duration::from_secs(60),
            check_interval: Duration::from_secs(10),
        }
    }

    /// Adds an object that tells the API server to call this server.
    #[must_use]
    pub fn target(mut self, target: WebhookTarget) -> Self {
        self.targets.push(target);
        self
    }
}

impl fmt::Debug for SelfManagedCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelfManagedCertificates")
            .field("namespace", &self.namespace)
            .field("service", &self.service)
            .field("secret", &self.secret)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

const DAY: Duration = Duration::from_secs(24 * 3600);

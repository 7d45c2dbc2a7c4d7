//! Webhooks of a test.

use kube::{Api, api::PostParams};
use kubewright::webhook::{WebhookAddress, WebhookServer};
use kubewright_apiserver::ServiceRoute;

use crate::TestEnv;

impl TestEnv {
    /// Has the API server call all webhooks that are registered at `server`, from this moment on.
    ///
    /// They are called in this process: the server need not run, and paused time works. Their configurations begin with `name`; they are what
    /// [`WebhookServer::configurations`] says.
    ///
    /// # Panics
    /// If the API server refuses a configuration.
    ///
    /// # Example: a refusal
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubewright::{object::ObjectKey, webhook::{Webhook, WebhookServer, admission::{AdmissionRequest, Validator, Warnings}}};
    /// use kubewright_testing::TestEnv;
    ///
    /// struct NoMaps;
    ///
    /// impl Validator<ConfigMap> for NoMaps {
    ///     type Error = kubewright::BoxError;
    ///
    ///     async fn validate_create(&self, _: &AdmissionRequest, _: &ConfigMap, _: &Warnings) -> Result<(), Self::Error> {
    ///         Err("no maps today".into())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let env = TestEnv::start().await;
    /// let server = WebhookServer::default();
    /// Webhook::<ConfigMap>::builder().validator(NoMaps).register(&server).unwrap();
    /// env.install_webhooks("maps", &server).await;
    ///
    /// let metadata = env.meta(&ObjectKey::new("default", "a"));
    /// let maps = kube::Api::<ConfigMap>::default_namespaced(env.kube());
    /// let refused = maps.create(&Default::default(), &ConfigMap { metadata, ..ConfigMap::default() }).await;
    /// assert!(refused.unwrap_err().to_string().contains("denied the request: no maps today"));
    /// # }
    /// ```
    pub async fn install_webhooks(&self, name: &str, server: &WebhookServer) {
        let address = self.webhook_address(name);
        let called = server.clone();
        let route = ServiceRoute::in_process(move |request| {
            let server = called.clone();
            async move { server.call(request).await }
        });
        if let WebhookAddress::Service { namespace, name } = &address {
            self.server().route_service(namespace, name, route);
        }
        let configurations = server.configurations(name, &address);
        if let Some(mutating) = configurations.mutating {
            let made = Api::all(self.kube()).create(&PostParams::default(), &mutating).await;
            made.unwrap_or_else(|error| panic!("failed to install mutating webhooks: {error}"));
        }
        if let Some(validating) = configurations.validating {
            let made = Api::all(self.kube()).create(&PostParams::default(), &validating).await;
            made.unwrap_or_else(|error| panic!("failed to install validating webhooks: {error}"));
        }
    }

    /// Where the API server finds the webhooks that [`install_webhooks`](Self::install_webhooks) installs under this name: for definitions of kinds that
    /// they convert, which say so themselves.
    #[allow(clippy::unused_self, reason = "an environment may find them elsewhere one day")]
    pub fn webhook_address(&self, name: &str) -> WebhookAddress {
        WebhookAddress::Service { namespace: "default".to_owned(), name: format!("{name}-webhooks") }
    }
}

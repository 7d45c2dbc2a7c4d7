//! The API server that the replicas share.

use std::{fs, path::PathBuf};

use guestbook::{Guestbook, GuestbookSpec, webhooks};
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kube::{Api, CustomResourceExt as _, api::PostParams};
use kubewright::{controllerutil::conditions, prelude::*, webhook::WebhookConfigurations};
use kubewright_testing::{
    TestEnv,
    apiserver::{Controllers, ListenOptions, Listener, ServiceRoute},
};

use crate::replica::{PATIENCE, Replica};

pub struct Cluster {
    pub env: TestEnv,
    pub kubeconfig: PathBuf,
    _listener: Listener,
}

impl Cluster {
    /// It knows guestbooks, and is told to ask about them.
    pub async fn start() -> Self {
        let env = TestEnv::builder().controllers(Controllers::default()).timeout(PATIENCE).start().await;
        let listener = env.server().listen(ListenOptions::default()).await.unwrap();
        let port = listener.address().port();
        let kubeconfig = std::env::temp_dir().join(format!("guestbook-replicas-{port}.kubeconfig"));
        fs::write(&kubeconfig, listener.kubeconfig()).unwrap();
        env.install_crds([Guestbook::crd()]).await;
        let WebhookConfigurations { mutating, validating, .. } = webhooks::configurations("default").unwrap();
        let create = PostParams::default();
        Api::all(env.kube()).create(&create, &mutating.unwrap()).await.unwrap();
        Api::all(env.kube()).create(&create, &validating.unwrap()).await.unwrap();
        Self { env, kubeconfig, _listener: listener }
    }

    /// A replica whose webhooks may be called.
    pub async fn replica(&self) -> Replica {
        let replica = Replica::start(&self.kubeconfig);
        replica.webhooks().await;
        let named = |role: &str| Request::cluster_scoped(format!("guestbook-{role}-webhook-configuration"));
        self.env
            .wait_for::<MutatingWebhookConfiguration>(&named("mutating"), |found| {
                let webhooks = found.and_then(|found| found.webhooks.as_ref()).unwrap();
                webhooks.iter().all(|webhook| webhook.client_config.ca_bundle.is_some())
            })
            .await;
        self.env
            .wait_for::<ValidatingWebhookConfiguration>(&named("validating"), |found| {
                let webhooks = found.and_then(|found| found.webhooks.as_ref()).unwrap();
                webhooks.iter().all(|webhook| webhook.client_config.ca_bundle.is_some())
            })
            .await;
        replica
    }

    /// Does what the network does when a pod comes or goes.
    pub async fn route_to(&self, replica: &Replica) {
        let route = ServiceRoute::Address(replica.webhooks().await);
        self.env.server().route_service("default", webhooks::SERVICE, route);
    }

    pub fn guestbook(&self, name: &str, replicas: i32) -> Guestbook {
        let spec =
            GuestbookSpec { image: "example.com/guestbook:1".into(), replicas, message: "hello".into() };
        Guestbook { metadata: self.env.meta(&Request::new("default", name)), spec, status: None }
    }

    pub async fn guestbook_gets_ready(&self, name: &str) {
        self.env.create(&self.guestbook(name, 2)).await;
        let is_ready = |guestbook: Option<&Guestbook>| {
            let status = guestbook.and_then(|guestbook| guestbook.status.as_ref());
            status.is_some_and(|status| conditions::is_true(&status.conditions, "Ready"))
        };
        self.env.wait_for::<Guestbook>(&Request::new("default", name), is_ready).await;
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.kubeconfig);
    }
}

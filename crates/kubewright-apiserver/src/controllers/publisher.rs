//! What every namespace has: the `default` ServiceAccount, and the `ConfigMap` with the certificate that clients inside
//! check the server with.
//!
//! Source: kube-controller-manager `serviceaccount.ServiceAccountsController`, `certificates/rootcacertpublisher`.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::{
    Api, Client, Error, ResourceExt,
    api::{ApiResource, ObjectMeta, PostParams},
};
use tokio::sync::watch;

use super::{
    follow::{Metadata, Resource},
    settle::{self, Settle},
};

/// Runs until it is dropped. The certificate is in PEM, and empty while nobody listens.
pub(super) async fn run(client: Client, mut root_certificate: watch::Receiver<String>) {
    loop {
        let certificate = root_certificate.borrow_and_update().clone();
        let publisher = Publisher { client: client.clone(), root_certificate: certificate };
        tokio::select! {
            () = settle::run(client.clone(), publisher) => {}
            // Another one is published everywhere, so that everything is looked at again.
            Ok(()) = root_certificate.changed() => {}
        }
    }
}

/// Keeps both objects in every namespace.
struct Publisher {
    client: Client,
    root_certificate: String,
}

impl Settle for Publisher {
    /// A namespace.
    type Place = String;

    fn resources(&self) -> Vec<Resource> {
        vec![
            Resource { api: ApiResource::erase::<Namespace>(&()), namespaced: false },
            Resource { api: ApiResource::erase::<ServiceAccount>(&()), namespaced: true },
            Resource { api: ApiResource::erase::<ConfigMap>(&()), namespaced: true },
        ]
    }

    fn place_of(&self, resource: &Resource, object: &Metadata) -> Option<String> {
        match resource.api.kind.as_str() {
            "Namespace" => Some(object.name_any()),
            "ServiceAccount" => object.namespace().filter(|_| object.name_any() == SERVICE_ACCOUNT),
            _ => object.namespace().filter(|_| object.name_any() == CONFIG_MAP),
        }
    }

    async fn settle(&self, namespace: &String) -> Result<bool, Error> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let found = namespaces.get_metadata_opt(namespace).await?;
        if found.is_none_or(|found| found.metadata.deletion_timestamp.is_some()) {
            return Ok(true);
        }
        let account = ServiceAccount { metadata: named(SERVICE_ACCOUNT), ..ServiceAccount::default() };
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        if accounts.get_metadata_opt(SERVICE_ACCOUNT).await?.is_none() {
            made(accounts.create(&PostParams::default(), &account).await)?;
        }
        self.publish(namespace).await?;
        Ok(true)
    }
}

impl Publisher {
    async fn publish(&self, namespace: &str) -> Result<(), Error> {
        let config_maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        let data = [("ca.crt".to_owned(), self.root_certificate.clone())].into();
        let Some(mut found) = config_maps.get_opt(CONFIG_MAP).await? else {
            let mut metadata = named(CONFIG_MAP);
            metadata.annotations = Some([(DESCRIBED.0.to_owned(), DESCRIBED.1.to_owned())].into());
            let config_map = ConfigMap { metadata, data: Some(data), ..ConfigMap::default() };
            return made(config_maps.create(&PostParams::default(), &config_map).await);
        };
        if found.data.as_ref() == Some(&data) {
            return Ok(());
        }
        found.data = Some(data);
        config_maps.replace(CONFIG_MAP, &PostParams::default(), &found).await.map(|_| ())
    }
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

/// Somebody else may have made the object, and the namespace may have begun to go: then nothing is left to do.
fn made<K>(result: Result<K, Error>) -> Result<(), Error> {
    match result {
        Err(Error::Api(status)) if matches!(status.code, 403 | 404 | 409) => Ok(()),
        result => result.map(|_| ()),
    }
}

const SERVICE_ACCOUNT: &str = "default";
const CONFIG_MAP: &str = "kube-root-ca.crt";
/// Source: kube-controller-manager `rootcacertpublisher.DescriptionAnnotation`.
const DESCRIBED: (&str, &str) = (
    "kubernetes.io/description",
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
);

//! The end of namespaces.
//!
//! Source: kube-controller-manager `namespace/deletion`.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, Error, ResourceExt,
    api::{ApiResource, DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tracing::debug;

use super::{
    content::Content,
    follow::{Metadata, Resource},
    settle::Settle,
};
use crate::clock::Clock;

/// Empties namespaces that are being deleted, and lets them go.
pub(super) struct NamespaceEnd {
    pub(super) client: Client,
    pub(super) clock: Arc<dyn Clock>,
}

impl Settle for NamespaceEnd {
    /// A namespace.
    type Place = String;

    fn resources(&self) -> Vec<Resource> {
        vec![Resource { api: ApiResource::erase::<Namespace>(&()), namespaced: false }]
    }

    fn place_of(&self, _: &Resource, object: &Metadata) -> Option<String> {
        object.metadata.deletion_timestamp.is_some().then(|| object.name_any())
    }

    async fn settle(&self, name: &String) -> Result<bool, Error> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        if namespaces.get_metadata_opt(name).await?.is_none() {
            return Ok(true);
        }
        empty(&self.client, name, self.clock.now()).await
    }
}

/// Deletes what is in a namespace and then lets it go. False while something is left, or may be.
async fn empty(client: &Client, name: &str, now: Timestamp) -> Result<bool, Error> {
    let mut content = Content::default();
    match Resource::discover(client, &["deletecollection", "list"]).await {
        Err(error) => content.discovery_failure = Some(error.to_string()),
        Ok(resources) => {
            for resource in resources.iter().filter(|resource| resource.namespaced) {
                // What one resource refuses is no reason to keep the others.
                if let Err(error) = clear(client, name, resource, &mut content).await {
                    debug!(%error, namespace = %name, resource = %resource.api.plural, "failed to empty a resource");
                    content.failures.push(error.to_string());
                }
            }
        }
    }
    if content.is_empty() {
        finalize(client, name).await?;
        return Ok(true);
    }
    report(client, name, &content, now).await?;
    Ok(false)
}

/// Deletes the objects of one resource, and counts those that stay for now.
async fn clear(client: &Client, name: &str, resource: &Resource, content: &mut Content) -> Result<(), Error> {
    let api = resource.api(client, Some(name));
    let everything = ListParams::default();
    match api.delete_collection(&DeleteParams::background(), &everything).await {
        // The resource has gone since it was discovered.
        Err(Error::Api(status)) if status.code == 404 => return Ok(()),
        result => _ = result?,
    }
    content.add(resource, &api.list_metadata(&everything).await?.items);
    Ok(())
}

/// Says in the namespace's conditions what is left.
async fn report(client: &Client, name: &str, content: &Content, now: Timestamp) -> Result<(), Error> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let Some(namespace) = namespaces.get_opt(name).await? else { return Ok(()) };
    let present = namespace.status.and_then(|status| status.conditions).unwrap_or_default();
    let present = serde_json::to_value(present).map_err(Error::SerdeError)?;
    let present = present.as_array().map(Vec::as_slice).unwrap_or_default();
    let conditions = content.conditions(present, now);
    if conditions == present {
        return Ok(());
    }
    let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
    match namespaces.patch_status(name, &PatchParams::default(), &patch).await {
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        result => result.map(|_| ()),
    }
}

/// Takes the namespace's own finalizer off.
async fn finalize(client: &Client, name: &str) -> Result<(), Error> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let Some(mut namespace) = namespaces.get_opt(name).await? else { return Ok(()) };
    if namespace.metadata.deletion_timestamp.is_none() {
        return Ok(());
    }
    if let Some(finalizers) = namespace.spec.as_mut().and_then(|spec| spec.finalizers.as_mut()) {
        finalizers.retain(|finalizer| finalizer != "kubernetes");
    }
    namespaces.replace_subresource("finalize", name, &PostParams::default(), &namespace).await.map(|_| ())
}

//! The end of namespaces.
//!
//! Source: kube-controller-manager `namespace/deletion`.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, Error, ResourceExt,
    api::{ApiResource, DeleteParams, ListParams, PostParams},
};
use tokio::{sync::mpsc, task::JoinSet, time::sleep};
use tracing::debug;

use super::follow::{CHANGES, Change, Metadata, RETRY, Resource, follow};

/// Runs until it is dropped.
pub(super) async fn run(client: Client) {
    let (sender, mut receiver) = mpsc::channel(CHANGES);
    let namespaces = Resource { api: ApiResource::erase::<Namespace>(&()), namespaced: false };
    // Dropped with the controller, and the watch with it.
    let mut watches = JoinSet::new();
    watches.spawn(follow(client.clone(), namespaces, sender));
    let mut pending = BTreeSet::new();
    loop {
        tokio::select! {
            biased;
            Some((_, change)) = receiver.recv() => note(&mut pending, change),
            () = sleep(RETRY), if !pending.is_empty() => {}
        }
        if receiver.is_empty() {
            for name in std::mem::take(&mut pending) {
                match empty(&client, &name).await {
                    Ok(true) => {}
                    Ok(false) => _ = pending.insert(name),
                    Err(error) => {
                        debug!(%error, namespace = %name, "failed to empty a namespace; trying again");
                        pending.insert(name);
                    }
                }
            }
        }
    }
}

fn note(pending: &mut BTreeSet<String>, change: Change) {
    let is_terminating = |object: &Metadata| object.metadata.deletion_timestamp.is_some();
    match change {
        Change::Listed(objects) => {
            pending.extend(objects.iter().filter(|object| is_terminating(object)).map(ResourceExt::name_any));
        }
        Change::Applied(object) if is_terminating(&object) => _ = pending.insert(object.name_any()),
        Change::Deleted(object) => _ = pending.remove(&object.name_any()),
        Change::Applied(_) => {}
    }
}

/// Deletes what is in a namespace and then lets it go. False while something is left.
async fn empty(client: &Client, name: &str) -> Result<bool, Error> {
    let mut left = false;
    for resource in Resource::discover(client, &["deletecollection", "list"]).await? {
        if !resource.namespaced {
            continue;
        }
        let api = resource.api(client, Some(name));
        let everything = ListParams::default();
        match api.delete_collection(&DeleteParams::background(), &everything).await {
            // The resource has gone since it was discovered.
            Err(Error::Api(status)) if status.code == 404 => continue,
            result => _ = result?,
        }
        left |= !api.list_metadata(&everything.limit(1)).await?.items.is_empty();
    }
    if !left {
        finalize(client, name).await?;
    }
    Ok(!left)
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

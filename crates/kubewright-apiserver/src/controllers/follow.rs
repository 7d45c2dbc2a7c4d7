//! List and watch of one resource, by metadata.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use kube::{
    Api, Client, Error, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams, PartialObjectMeta, WatchEvent, WatchParams},
    discovery::{ApiCapabilities, Discovery, Scope},
};
use tokio::sync::mpsc;
use tracing::debug;

/// The metadata of any object.
pub(super) type Metadata = PartialObjectMeta<DynamicObject>;

/// A resource as discovery describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Resource {
    pub(super) api: ApiResource,
    pub(super) namespaced: bool,
}

impl Resource {
    /// The resources that support all of `verbs`, each at its preferred version.
    pub(super) async fn discover(client: &Client, verbs: &[&str]) -> Result<Vec<Self>, Error> {
        let discovery = Discovery::new(client.clone()).run_aggregated().await?;
        let supports =
            |capabilities: &ApiCapabilities| verbs.iter().all(|verb| capabilities.supports_operation(verb));
        let found = discovery.groups().flat_map(|group| group.recommended_resources());
        Ok(found
            .filter(|(_, capabilities)| supports(capabilities))
            .map(|(api, capabilities)| Self { api, namespaced: capabilities.scope == Scope::Namespaced })
            .collect())
    }

    /// The objects of a namespace; `None` for all, and for cluster scope.
    pub(super) fn api(&self, client: &Client, namespace: Option<&str>) -> Api<DynamicObject> {
        match namespace {
            Some(namespace) if self.namespaced => Api::namespaced_with(client.clone(), namespace, &self.api),
            _ => Api::all_with(client.clone(), &self.api),
        }
    }
}

/// What has become of the objects of a resource.
#[derive(Debug)]
pub(super) enum Change {
    /// These are all there are.
    Listed(Vec<Metadata>),
    Applied(Box<Metadata>),
    Deleted(Box<Metadata>),
}

/// Sends what becomes of the objects of a resource, until the resource is gone or nobody listens.
pub(super) async fn follow(client: Client, resource: Resource, changes: mpsc::Sender<(Resource, Change)>) {
    let api = resource.api(&client, None);
    loop {
        match list_and_watch(&api, &resource, &changes).await {
            Ok(()) => return,
            Err(Error::Api(status)) if status.code == 404 => return,
            Err(error) => {
                debug!(%error, resource = %resource.api.plural, "failed to watch; listing again");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// Ends when nobody listens any longer.
async fn list_and_watch(
    api: &Api<DynamicObject>,
    resource: &Resource,
    changes: &mpsc::Sender<(Resource, Change)>,
) -> Result<(), Error> {
    let list = api.list_metadata(&ListParams::default()).await?;
    let mut version = list.metadata.resource_version.unwrap_or_default();
    if changes.send((resource.clone(), Change::Listed(list.items))).await.is_err() {
        return Ok(());
    }
    loop {
        let mut events = api.watch_metadata(&WatchParams::default(), &version).await?.boxed();
        while let Some(event) = events.try_next().await? {
            let change = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    version = object.resource_version().unwrap_or_default();
                    Change::Applied(Box::new(object))
                }
                WatchEvent::Deleted(object) => {
                    version = object.resource_version().unwrap_or_default();
                    Change::Deleted(Box::new(object))
                }
                WatchEvent::Bookmark(bookmark) => {
                    version = bookmark.metadata.resource_version;
                    continue;
                }
                WatchEvent::Error(status) => return Err(Error::Api(status)),
            };
            if changes.send((resource.clone(), change)).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// How many changes may wait for a controller. More make the watches wait, which costs nobody else anything.
pub(super) const CHANGES: usize = 256;
/// How long a failed list, watch or write waits for the next attempt.
pub(super) const RETRY: Duration = Duration::from_millis(200);

//! The garbage collector.
//!
//! Source: kube-controller-manager `garbagecollector`.

use std::collections::{BTreeSet, HashSet};

use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{
    Api, Client, Error, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, Preconditions, PropagationPolicy},
};
use serde_json::json;
use tokio::{sync::mpsc, task::JoinSet, time::sleep};
use tracing::debug;

use super::{
    follow::{CHANGES, Change, Metadata, RETRY, Resource, follow},
    graph::{Graph, Node, Uid},
};

/// Runs until it is dropped.
pub(super) async fn run(client: Client) {
    let (sender, mut receiver) = mpsc::channel(CHANGES);
    let mut collector = Collector {
        client,
        graph: Graph::default(),
        pending: BTreeSet::new(),
        unmapped: BTreeSet::new(),
        followed: HashSet::new(),
        kinds_changed: true,
    };
    // Dropped with the controller, and its watches with it.
    let mut watches = JoinSet::new();
    loop {
        // Changes first: a decision on the newest graph is one request less.
        if receiver.is_empty() {
            if collector.kinds_changed {
                collector.follow_all(&mut watches, &sender).await;
            }
            collector.work().await;
        }
        tokio::select! {
            biased;
            Some((resource, change)) = receiver.recv() => collector.note(&resource, &change),
            Some(ended) = watches.join_next() => {
                if let Ok(resource) = ended {
                    collector.forget(&resource);
                }
            }
            () = sleep(RETRY), if collector.kinds_changed || !collector.pending.is_empty() => {}
        }
    }
}

struct Collector {
    client: Client,
    graph: Graph,
    /// The objects to look at.
    pending: BTreeSet<Uid>,
    /// The objects with an owner of a kind that nobody serves. They wait for it to be served.
    unmapped: BTreeSet<Uid>,
    followed: HashSet<Resource>,
    /// Whether there may be resources that are not followed.
    kinds_changed: bool,
}

impl Collector {
    /// Follows every resource whose objects can be collected and is not followed yet.
    async fn follow_all(
        &mut self,
        watches: &mut JoinSet<Resource>,
        sender: &mpsc::Sender<(Resource, Change)>,
    ) {
        let resources = match Resource::discover(&self.client, &["delete", "list", "watch"]).await {
            Ok(resources) => resources,
            Err(error) => {
                debug!(%error, "failed to discover what there is to collect");
                return;
            }
        };
        for resource in resources.into_iter().filter(|resource| resource.api.kind != "Event") {
            if self.followed.insert(resource.clone()) {
                let (client, sender) = (self.client.clone(), sender.clone());
                watches.spawn(async move {
                    follow(client, resource.clone(), sender).await;
                    resource
                });
            }
        }
        self.kinds_changed = false;
        self.pending.append(&mut self.unmapped);
    }

    /// Forgets a resource that is gone. Should it have come back by now, it is found again.
    fn forget(&mut self, resource: &Resource) {
        self.followed.remove(resource);
        let affected = self.graph.replace(resource, &[]);
        self.pending.extend(affected);
        self.kinds_changed = true;
    }

    /// Takes note of a change.
    fn note(&mut self, resource: &Resource, change: &Change) {
        let affected = match change {
            Change::Listed(objects) => self.graph.replace(resource, objects),
            Change::Applied(object) => self.graph.apply(resource, object),
            Change::Deleted(object) => self.graph.remove(&object.uid().unwrap_or_default()),
        };
        self.pending.extend(affected);
        // A list tells of definitions that are younger than the discovery as well.
        let tells_of_kinds = resource.api == ApiResource::erase::<CustomResourceDefinition>(&());
        self.kinds_changed |= tells_of_kinds && !matches!(change, Change::Deleted(_));
    }

    /// Looks at every object that is pending. What fails stays pending.
    async fn work(&mut self) {
        for uid in std::mem::take(&mut self.pending) {
            let Some(node) = self.graph.get(&uid).cloned() else { continue };
            if let Err(error) = self.look_at(&uid, &node).await {
                debug!(%error, name = %node.name, "failed to collect; trying again");
                self.pending.insert(uid);
            }
        }
    }

    async fn look_at(&mut self, uid: &str, node: &Node) -> Result<(), Error> {
        let api = node.resource.api(&self.client, node.namespace.as_deref());
        let Some(live) = get(&api, &node.name).await?.filter(|live| live.uid().as_deref() == Some(uid))
        else {
            // The event of its deletion is on its way.
            return Ok(());
        };
        if live.metadata.deletion_timestamp.is_some() {
            if has_finalizer(&live, ORPHAN) {
                self.orphan_dependents(uid).await?;
                return remove_finalizer(&api, &live, ORPHAN).await;
            }
            if has_finalizer(&live, FOREGROUND) {
                return self.await_dependents(&api, &live, uid).await;
            }
            return Ok(());
        }
        self.check_owners(&api, &live, node).await
    }

    /// Deletes an object without owners, and takes off the owners that are gone where others remain.
    async fn check_owners(
        &mut self,
        api: &Api<DynamicObject>,
        live: &Metadata,
        node: &Node,
    ) -> Result<(), Error> {
        let (mut solid, mut waiting, mut dangling) = (0, 0, 0);
        let mut remaining = Vec::new();
        for reference in live.owner_references() {
            match self.owner(reference, node).await? {
                Owner::Solid => {
                    solid += 1;
                    remaining.push(reference.clone());
                }
                Owner::WaitsForDependents => waiting += 1,
                Owner::Gone => dangling += 1,
                Owner::Unmapped => {
                    self.unmapped.extend(live.uid());
                    return Ok(());
                }
            }
        }
        if solid > 0 {
            if waiting + dangling > 0 {
                set_owners(api, live, &remaining).await?;
            }
            return Ok(());
        }
        if waiting + dangling == 0 {
            return Ok(());
        }
        let dependents = self.graph.dependents_of(&live.uid().unwrap_or_default());
        let has_dependents = !dependents.is_empty();
        let is_deleting = |uid: &Uid| self.graph.get(uid).is_some_and(|node| node.deleting);
        if waiting > 0 && dependents.iter().any(is_deleting) && live.owner_references().iter().any(blocks) {
            // The owners wait for this object and it would wait for them: a circle, which has to be opened.
            let unblocked = live.owner_references().iter().cloned();
            let unblocked: Vec<_> = unblocked
                .map(|owner| OwnerReference { block_owner_deletion: Some(false), ..owner })
                .collect();
            // The write brings the object back here.
            return set_owners(api, live, &unblocked).await;
        }
        let policy = if has_finalizer(live, ORPHAN) {
            PropagationPolicy::Orphan
        } else if has_finalizer(live, FOREGROUND) || (waiting > 0 && has_dependents) {
            PropagationPolicy::Foreground
        } else {
            PropagationPolicy::Background
        };
        let preconditions = Preconditions { uid: live.uid(), resource_version: live.resource_version() };
        let params = DeleteParams {
            propagation_policy: Some(policy),
            preconditions: Some(preconditions),
            ..DeleteParams::default()
        };
        ignore_missing(api.delete(&live.name_any(), &params).await.map(|_| ()))
    }

    async fn owner(&self, reference: &OwnerReference, dependent: &Node) -> Result<Owner, Error> {
        // The reference says what the owner is, also where another object has the UID: then there is no such owner.
        let Some(resource) = self.resource_of(reference) else {
            // Perhaps it is served in a moment. Nothing may be deleted for not knowing its owner.
            return Ok(Owner::Unmapped);
        };
        if resource.namespaced && dependent.namespace.is_none() {
            // An owner in a namespace cannot be found from outside. Such objects are never collected.
            return Ok(Owner::Solid);
        }
        let api = resource.api(&self.client, dependent.namespace.as_deref());
        let found =
            get(&api, &reference.name).await?.filter(|owner| owner.uid().as_ref() == Some(&reference.uid));
        Ok(match found {
            None => Owner::Gone,
            Some(owner)
                if owner.metadata.deletion_timestamp.is_some() && has_finalizer(&owner, FOREGROUND) =>
            {
                Owner::WaitsForDependents
            }
            Some(_) => Owner::Solid,
        })
    }

    fn resource_of(&self, reference: &OwnerReference) -> Option<Resource> {
        let group = reference.api_version.split_once('/').map_or("", |(group, _)| group);
        let same_kind =
            |resource: &&Resource| resource.api.group == group && resource.api.kind == reference.kind;
        self.followed.iter().find(same_kind).cloned()
    }

    /// Foreground deletion: the owner goes when no dependent holds it up.
    async fn await_dependents(
        &mut self,
        api: &Api<DynamicObject>,
        live: &Metadata,
        uid: &str,
    ) -> Result<(), Error> {
        let blocking = self.graph.blocking_dependents(uid);
        if blocking.is_empty() {
            return remove_finalizer(api, live, FOREGROUND).await;
        }
        let standing = |uid: &Uid| self.graph.get(uid).is_some_and(|node| !node.deleting);
        let standing: Vec<Uid> = blocking.into_iter().filter(standing).collect();
        self.pending.extend(standing);
        Ok(())
    }

    /// Takes an owner off all its dependents.
    async fn orphan_dependents(&self, owner: &str) -> Result<(), Error> {
        for uid in self.graph.dependents_of(owner) {
            let Some(node) = self.graph.get(&uid) else { continue };
            let api = node.resource.api(&self.client, node.namespace.as_deref());
            let Some(live) = get(&api, &node.name).await? else { continue };
            let remaining: Vec<_> =
                live.owner_references().iter().filter(|reference| reference.uid != owner).cloned().collect();
            set_owners(&api, &live, &remaining).await?;
        }
        Ok(())
    }
}

/// How an owner stands.
enum Owner {
    Solid,
    WaitsForDependents,
    Gone,
    Unmapped,
}

async fn get(api: &Api<DynamicObject>, name: &str) -> Result<Option<Metadata>, Error> {
    match api.get_metadata(name).await {
        Err(Error::Api(status)) if status.code == 404 => Ok(None),
        found => found.map(Some),
    }
}

fn blocks(owner: &OwnerReference) -> bool {
    owner.block_owner_deletion == Some(true)
}

fn has_finalizer(object: &Metadata, name: &str) -> bool {
    object.finalizers().iter().any(|finalizer| finalizer == name)
}

async fn remove_finalizer(api: &Api<DynamicObject>, live: &Metadata, name: &str) -> Result<(), Error> {
    let remaining: Vec<_> = live.finalizers().iter().filter(|finalizer| *finalizer != name).collect();
    patch(api, live, &json!({"finalizers": remaining, "resourceVersion": live.resource_version()})).await
}

async fn set_owners(
    api: &Api<DynamicObject>,
    live: &Metadata,
    owners: &[OwnerReference],
) -> Result<(), Error> {
    patch(api, live, &json!({"ownerReferences": owners, "resourceVersion": live.resource_version()})).await
}

async fn patch(api: &Api<DynamicObject>, live: &Metadata, metadata: &serde_json::Value) -> Result<(), Error> {
    let patch = Patch::Merge(json!({"metadata": metadata}));
    ignore_missing(api.patch_metadata(&live.name_any(), &PatchParams::default(), &patch).await.map(|_| ()))
}

fn ignore_missing(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        other => other,
    }
}

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

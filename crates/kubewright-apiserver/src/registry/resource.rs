//! One resource, as one request is about it.

use std::{sync::Arc, time::Duration};

use http::StatusCode;

use super::{cluster::Cluster, metadata};
use crate::{
    context::{Context, ResourceInfo},
    error::Status,
    kind::Kind,
    object::{Document, Object},
    storage::Key,
};

/// One resource, as one request is about it. Its methods are the verbs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resource<'a> {
    pub(crate) cluster: &'a Cluster,
    /// The resource, in the version that the client uses.
    pub(crate) kind: &'a Arc<Kind>,
    pub(crate) context: &'a Context,
    /// Which objects it is about.
    pub(crate) info: &'a ResourceInfo,
}

impl Resource<'_> {
    /// The object that the request names, once the store has reached the version that the client has seen elsewhere.
    pub(crate) async fn get(&self, version: Option<u64>) -> Result<Document, Status> {
        self.wait_for(version).await?;
        let found = self.cluster.store.get(&self.kind.prefix, &self.key());
        self.kind.show(found.ok_or_else(|| Status::not_found(self.kind, &self.info.name))?).await
    }

    pub(crate) fn key(&self) -> Key {
        Key::new(self.namespace(), &self.info.name)
    }

    /// The namespace of the object; empty for cluster scope, also for namespaces themselves.
    pub(crate) fn namespace(&self) -> &str {
        if self.kind.is_namespaced() { &self.info.namespace } else { "" }
    }

    /// Waits until the store has reached the version that the client has seen elsewhere.
    ///
    /// Source: apiserver `storage/cacher.watchCache.waitUntilFreshAndBlock`.
    pub(super) async fn wait_for(&self, wanted: Option<u64>) -> Result<(), Status> {
        let store = &self.cluster.store;
        let Some(wanted) = wanted.filter(|wanted| *wanted > store.revision()) else { return Ok(()) };
        let waited = tokio::time::timeout(FRESHNESS_TIMEOUT, store.reached(wanted)).await;
        waited.map_err(|_| Status::too_large_resource_version(wanted, store.revision()))
    }

    /// Lets the kind note who writes, and when.
    pub(super) fn stamp(&self, new: &mut Object, old: Option<&Object>) {
        let now = self.cluster.clock.now();
        self.kind.strategy.stamp(new, old, now, &|| self.context.user.to_value());
    }

    /// Tells the client what its kind has to say of an object that is good.
    pub(super) fn warn(&self, new: &Object, old: Option<&Object>) {
        for warning in self.kind.strategy.warnings(new, old) {
            self.context.warnings.add(&warning);
        }
    }

    /// Drops owner references that are there twice, and tells the client.
    ///
    /// Source: apiserver `handlers.dedupOwnerReferencesAndAddWarning`.
    pub(super) fn drop_repeated_owners(&self, object: &mut Object, is_admitted: bool) {
        let repeated = metadata::drop_repeated_owners(object);
        if !repeated.is_empty() {
            let when = if is_admitted { " after mutating admission happens" } else { "" };
            let uids = repeated.join(", ");
            self.context.warnings.add(&format!(
                ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
            ));
        }
    }

    /// The namespace in the object is that of the path, or not given.
    pub(super) fn check_namespace(&self, object: &mut Object) -> Result<(), Status> {
        let (given, wanted) = (object.namespace().to_owned(), self.namespace());
        if wanted.is_empty() {
            object.metadata_mut().remove("namespace");
        } else {
            object.metadata_mut().insert("namespace".into(), wanted.into());
        }
        if given.is_empty() || given == wanted || wanted.is_empty() {
            Ok(())
        } else {
            let text =
                "the namespace of the provided object does not match the namespace sent on the request";
            Err(Status::bad_request(text))
        }
    }
}

/// A path that nobody knows. Without a message the door answers in plain text, as upstream's router does.
pub(crate) fn no_such_path() -> Status {
    Status::new(StatusCode::NOT_FOUND, "", "")
}

const FRESHNESS_TIMEOUT: Duration = Duration::from_secs(3);

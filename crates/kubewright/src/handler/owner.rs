//! The owners of the object.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::{EventHandler, Requests};
use crate::{
    event::{Event, Observed},
    object::{Kind, Object, ObjectKey, Scope, group_of},
    reconcile::{Request, RequestType},
};

/// Enqueues the owners of kind `O` that the object has.
///
/// Owners are recognised by group and kind; the version of the reference does not matter. A namespaced owner is in the object's
/// namespace. An update enqueues the owners of the old state and the new one, so an owner that lost the object hears of it.
///
/// Source: controller-runtime `handler.EnqueueRequestForOwner`.
///
/// # Differences from Go
/// A reference with a malformed `apiVersion` names nobody's kind, and the other references count; upstream skips the whole object. The
/// scope of the owner is known from its type, so nothing is looked up.
pub fn enqueue_request_for_owner<O: Object>() -> EnqueueRequestForOwner {
    enqueue_request_for_owner_of_kind(Kind::of::<O>())
}

/// As [`enqueue_request_for_owner`], of a kind that may be known at run time only.
pub fn enqueue_request_for_owner_of_kind(owner: Kind) -> EnqueueRequestForOwner {
    EnqueueRequestForOwner { owner, every_owner: true }
}

/// See [`enqueue_request_for_owner`].
#[derive(Clone, Debug)]
pub struct EnqueueRequestForOwner {
    owner: Kind,
    every_owner: bool,
}

impl EnqueueRequestForOwner {
    /// Enqueues the owner that controls the object alone: the reference with `controller: true`. Default: every owner of the kind.
    ///
    /// Source: controller-runtime `handler.OnlyControllerOwner`.
    #[must_use]
    pub fn only_controller_owner(mut self) -> Self {
        self.every_owner = false;
        self
    }

    /// Makes requests of another type of the owners' keys.
    ///
    /// Source: controller-runtime `handler.TypedEnqueueRequestForOwner`, which knows `reconcile.Request` alone.
    pub fn as_requests<R, F>(self, make: F) -> OwnerRequests<F>
    where
        F: Fn(ObjectKey) -> R + Send + Sync + 'static,
    {
        OwnerRequests { owners: self, make }
    }

    /// The owners of the old state and the new one, each once.
    fn owners_in<K>(&self, event: &Event<K>) -> Vec<ObjectKey> {
        let old = event.object_old().into_iter().flat_map(|object| self.owners(object));
        super::mapped::deduplicated(old.chain(self.owners(event.object())))
    }

    fn owners<'a, K>(&'a self, object: &'a Observed<K>) -> impl Iterator<Item = ObjectKey> + 'a {
        let references = object.metadata().owner_references.iter().flatten();
        references.filter(|reference| self.matches(reference)).map(|reference| match self.owner.scope() {
            Scope::Cluster => ObjectKey::cluster_scoped(reference.name.as_str()),
            Scope::Namespaced => object.key().sibling(&reference.name),
        })
    }

    fn matches(&self, reference: &OwnerReference) -> bool {
        reference.kind == self.owner.kind()
            && group_of(&reference.api_version) == self.owner.group()
            && (self.every_owner || reference.controller == Some(true))
    }
}

impl<K: Send + Sync + 'static> EventHandler<K> for EnqueueRequestForOwner {
    fn handle(&self, event: &Event<K>, requests: &Requests<'_, Request>) -> impl Future<Output = ()> + Send {
        requests.add_all(self.owners_in(event));
        std::future::ready(())
    }
}

/// See [`EnqueueRequestForOwner::as_requests`].
#[derive(Clone)]
pub struct OwnerRequests<F> {
    owners: EnqueueRequestForOwner,
    make: F,
}

impl<F> fmt::Debug for OwnerRequests<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerRequests").field("owners", &self.owners).finish_non_exhaustive()
    }
}

impl<K, R, F> EventHandler<K, R> for OwnerRequests<F>
where
    K: Send + Sync + 'static,
    R: RequestType,
    F: Fn(ObjectKey) -> R + Send + Sync + 'static,
{
    fn handle(&self, event: &Event<K>, requests: &Requests<'_, R>) -> impl Future<Output = ()> + Send {
        requests.add_all(self.owners.owners_in(event).into_iter().map(&self.make));
        std::future::ready(())
    }
}

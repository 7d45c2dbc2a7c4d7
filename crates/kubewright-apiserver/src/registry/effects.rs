//! What a write to one kind means for the server itself.

use super::{bootstrap, cluster::Cluster, definition, expiry::Expiry, service_address::Reservation};
use crate::{
    error::Status,
    kind::Kind,
    object::{Document, Object},
    storage::Key,
};

/// Gives an object that is about to be written what the server hands out: a Service its address and its ports.
pub(super) fn reserve<'a>(
    cluster: &'a Cluster,
    kind: &Kind,
    old: Option<&Object>,
    object: &mut Object,
) -> Result<Reservation<'a>, Status> {
    if kind.is("", "services") {
        cluster.addresses.reserve(kind, old, object)
    } else {
        Ok(Reservation::nothing(&cluster.addresses))
    }
}

/// An object was written.
pub(super) fn stored(cluster: &Cluster, kind: &Kind, key: &Key, document: &Document) {
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        definition::changed(cluster);
    } else if Expiry::concerns(kind) {
        cluster.expiry.renew(key, document);
    }
}

/// An object was removed.
pub(super) fn removed(cluster: &Cluster, kind: &Kind, object: &Object) {
    if kind.is("", "services") {
        cluster.addresses.release(object);
    }
    bootstrap::removed(cluster, kind, object);
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        definition::changed(cluster);
    } else if kind.is_custom {
        definition::instance_removed(cluster, &kind.group, &kind.plural);
    }
}

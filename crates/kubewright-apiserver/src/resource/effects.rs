//! What a write to one kind means for the server itself.

use super::{Expiry, bootstrap, definition, service_address::Reservation};
use crate::{
    error::Status,
    kind::Kind,
    object::{Document, Object},
    server::Shared,
    storage::Key,
};

/// Gives an object that is about to be written what the server hands out: a Service its address and its ports.
pub(super) fn reserve<'a>(
    shared: &'a Shared,
    kind: &Kind,
    old: Option<&Object>,
    object: &mut Object,
) -> Result<Reservation<'a>, Status> {
    if kind.is("", "services") {
        shared.addresses.reserve(kind, old, object)
    } else {
        Ok(Reservation::nothing(&shared.addresses))
    }
}

/// An object was written.
pub(super) fn stored(shared: &Shared, kind: &Kind, key: &Key, document: &Document) {
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        definition::changed(shared);
    } else if Expiry::concerns(kind) {
        shared.expiry.renew(key, document);
    }
}

/// An object was removed.
pub(super) fn removed(shared: &Shared, kind: &Kind, object: &Object) {
    if kind.is("", "services") {
        shared.addresses.release(object);
    }
    bootstrap::removed(shared, kind, object);
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        definition::changed(shared);
    } else if kind.is_custom {
        definition::instance_removed(shared, &kind.group, &kind.plural);
    }
}

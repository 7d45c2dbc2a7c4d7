//! What a write to one kind means for the server itself.

use super::{Expiry, bootstrap, definition};
use crate::{
    kind::Kind,
    object::Object,
    server::Shared,
    storage::{Document, Key},
    wire::Status,
};

/// Gives a new object what the server hands out: a Service its address.
pub(super) fn before_create(
    shared: &Shared,
    kind: &Kind,
    object: &mut Object,
    dry_run: bool,
) -> Result<(), Status> {
    if kind.is("", "services") {
        shared.addresses.assign(kind, object)?;
        if dry_run {
            shared.addresses.release(object);
        }
    }
    Ok(())
}

/// The object was not stored after all.
pub(super) fn abandoned(shared: &Shared, kind: &Kind, object: &Object) {
    if kind.is("", "services") {
        shared.addresses.release(object);
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

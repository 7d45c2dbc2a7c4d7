//! Sends what an edit has changed.

use kube::Resource;

use super::{OperationResult, difference::Difference};
use crate::{
    client::{ClientError, Objects},
    object::{ObjectKey, View},
};

/// Puts the wanted document in the place of the one that was read, whole or one subresource of it; `None` if that changes nothing.
///
/// # Errors
/// [`is_conflict`](ClientError::is_conflict) if the stored document is not the one that was read.
pub(super) async fn replace<K: View + Resource>(
    objects: &Objects<'_, K>,
    key: &ObjectKey,
    sub_resource: Option<&'static str>,
    difference: &Difference,
) -> Result<Option<K>, ClientError> {
    if is_idle(objects, difference) {
        return Ok(None);
    }
    // Without it the write would hold for whatever is there.
    if difference.resource_version().is_none() {
        let (kind, key) = (objects.kind().clone(), key.clone());
        return Err(ClientError::Incomplete { kind, key, field: "metadata.resourceVersion" });
    }
    let stored = objects.replace(key, sub_resource, &difference.wanted).await?;
    match result(difference.resource_version(), &stored, OperationResult::Updated) {
        OperationResult::Unchanged => {
            remember_idle(objects, difference);
            Ok(None)
        }
        _ => Ok(Some(stored)),
    }
}

/// `changed`, unless the API server gave back the version that was read.
pub(super) fn result<K: Resource>(
    read_at: Option<&str>,
    stored: &K,
    changed: OperationResult,
) -> OperationResult {
    if stored.meta().resource_version.as_deref() == read_at { OperationResult::Unchanged } else { changed }
}

/// Whether the API server has answered this change without changing anything, not long ago.
pub(super) fn is_idle<K>(objects: &Objects<'_, K>, difference: &Difference) -> bool {
    let idle = objects.client().idle_writes();
    difference.uid().is_some_and(|uid| idle.contains(uid, &difference.fingerprint()))
}

pub(super) fn remember_idle<K>(objects: &Objects<'_, K>, difference: &Difference) {
    if let Some(uid) = difference.uid() {
        objects.client().idle_writes().insert(uid, &difference.fingerprint());
    }
}

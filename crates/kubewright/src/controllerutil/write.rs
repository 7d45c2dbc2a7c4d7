//! Sends what an edit has changed.

use kube::{Resource, core::params::Patch};

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
    if is_unchanged(difference, &stored) {
        remember_idle(objects, difference);
        return Ok(None);
    }
    Ok(Some(stored))
}

/// Sends the difference as merge patches: that of the status, if there is one, after that of the rest. Gives `object`, which was read, if that changes nothing.
pub(crate) async fn patch<K: View + Resource>(
    objects: &Objects<'_, K>,
    key: &ObjectKey,
    object: K,
    difference: &Difference,
) -> Result<(K, OperationResult), ClientError> {
    if is_idle(objects, difference) {
        return Ok((object, OperationResult::Unchanged));
    }
    let (main, status) = difference.patches();
    let (uid, read_at) = (difference.uid(), difference.resource_version());
    let mut done = (object, OperationResult::Unchanged);
    let mut version = read_at.map(ToOwned::to_owned);
    if let Some(main) = main {
        // The status is of the state that was read: what comes before its patch must not be of a later one.
        let condition = read_at.filter(|_| main.touches_list || status.is_some());
        let stored = objects.patch(key, &Patch::Merge(main.of_object(uid, condition))).await?;
        if !is_unchanged(difference, &stored) {
            done.1 = OperationResult::Updated;
        }
        version = stored.meta().resource_version.clone();
        done.0 = stored;
    }
    if let Some(status) = status {
        let patch = status.of_object(uid, version.as_deref());
        let stored = match objects.status().patch(key, &Patch::Merge(patch)).await {
            // It went with its last finalizer, and its status with it.
            Err(error)
                if error.is_not_found() && done.1 == OperationResult::Updated && is_deleting(&done.0) =>
            {
                return Ok(done);
            }
            stored => stored?,
        };
        let result = match done.1 {
            OperationResult::Unchanged => OperationResult::UpdatedStatusOnly,
            _ => OperationResult::UpdatedStatus,
        };
        done.1 = if stored.meta().resource_version == version { done.1 } else { result };
        done.0 = stored;
    }
    if done.1 == OperationResult::Unchanged {
        remember_idle(objects, difference);
    }
    Ok(done)
}

/// Whether the API server gave back the version that was read, so that nothing has become of the change. The write that takes the last finalizer of a deleting object is answered with
/// that version, too, and removes the object.
fn is_unchanged<K: Resource>(difference: &Difference, stored: &K) -> bool {
    let is_released = difference.has_finalizers() && stored.meta().finalizers.is_none();
    stored.meta().resource_version.as_deref() == difference.resource_version() && !is_released
}

/// Whether the API server has answered this change without changing anything, not long ago.
fn is_idle<K>(objects: &Objects<'_, K>, difference: &Difference) -> bool {
    let idle = objects.client().idle_writes();
    difference.uid().is_some_and(|uid| idle.contains(uid, &difference.fingerprint()))
}

fn remember_idle<K>(objects: &Objects<'_, K>, difference: &Difference) {
    if let Some(uid) = difference.uid() {
        objects.client().idle_writes().insert(uid, &difference.fingerprint());
    }
}

fn is_deleting<K: Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_some()
}

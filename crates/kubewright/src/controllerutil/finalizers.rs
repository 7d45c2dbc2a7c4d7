//! Finalizers: the object stays until what it stands for has been cleaned up.

use kube::{Resource, core::params::Patch};
use serde_json::json;

use crate::{
    client::{ClientError, Objects},
    object::{ObjectKey, View},
};

/// Adds `finalizer` to `object`, in memory; whether that changed anything.
pub fn add_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    if contains_finalizer(object, finalizer) {
        return false;
    }
    object.meta_mut().finalizers.get_or_insert_default().push(finalizer.to_owned());
    true
}

/// Takes every `finalizer` from `object`, in memory; whether that changed anything.
pub fn remove_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    let Some(finalizers) = &mut object.meta_mut().finalizers else { return false };
    let before = finalizers.len();
    finalizers.retain(|other| other != finalizer);
    finalizers.len() != before
}

/// Whether `object` has `finalizer`.
pub fn contains_finalizer<K: Resource>(object: &K, finalizer: &str) -> bool {
    object.meta().finalizers.iter().flatten().any(|other| other == finalizer)
}

/// Adds `finalizer` to the stored object if it is not there; gives the object as it is stored then, or `None` if nothing had to be done.
///
/// An object that is being deleted gets no new finalizers: nothing is sent.
///
/// The patch holds for the state that `object` shows: whoever else writes finalizers at the same time makes it a conflict, and nobody's
/// finalizer is lost.
///
/// # Errors
/// [`is_conflict`](ClientError::is_conflict) if `object` is not the latest state, or if another object has taken its name.
pub async fn ensure_finalizer<'a, K: View + Resource + Clone>(
    client: impl Into<Objects<'a, K>>,
    object: &K,
    finalizer: &str,
) -> Result<Option<K>, ClientError> {
    let mut wanted = object.clone();
    if object.meta().deletion_timestamp.is_none() && add_finalizer(&mut wanted, finalizer) {
        write_finalizers(&client.into(), &wanted).await.map(Some)
    } else {
        Ok(None)
    }
}

/// Takes `finalizer` from the stored object if it is there. An object that is being deleted goes when its last finalizer does.
///
/// If the object is gone, or another has taken its name, there is nothing left to do.
///
/// # Errors
/// [`is_conflict`](ClientError::is_conflict) if `object` is not the latest state.
pub async fn release_finalizer<'a, K: View + Resource + Clone>(
    client: impl Into<Objects<'a, K>>,
    object: &K,
    finalizer: &str,
) -> Result<(), ClientError> {
    let mut wanted = object.clone();
    if !remove_finalizer(&mut wanted, finalizer) {
        return Ok(());
    }
    let objects = client.into();
    match write_finalizers(&objects, &wanted).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) if error.is_conflict() && is_gone(&objects, object).await => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether `object` is gone for certain.
async fn is_gone<K: View + Resource>(objects: &Objects<'_, K>, object: &K) -> bool {
    let live = objects.client().live().get_as::<K>(objects.kind(), &ObjectKey::of(object)).await;
    match live {
        Ok(latest) => latest.meta().uid != object.meta().uid,
        Err(error) => error.is_not_found(),
    }
}

async fn write_finalizers<K: View + Resource>(
    objects: &Objects<'_, K>,
    object: &K,
) -> Result<K, ClientError> {
    let (meta, key) = (object.meta(), ObjectKey::of(object));
    // An absent precondition would be none at all.
    for (value, field) in [(&meta.uid, "metadata.uid"), (&meta.resource_version, "metadata.resourceVersion")]
    {
        if value.is_none() {
            return Err(ClientError::Incomplete { kind: objects.kind().clone(), key, field });
        }
    }
    let patch = json!({ "metadata": {
        "uid": meta.uid,
        "resourceVersion": meta.resource_version,
        "finalizers": meta.finalizers,
    } });
    objects.patch(&key, &Patch::Merge(patch)).await
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    #[test]
    fn finalizers_are_added_once_and_removed_all() {
        let mut object = ConfigMap::default();
        assert!(add_finalizer(&mut object, "a/b"));
        assert!(!add_finalizer(&mut object, "a/b"));
        assert!(contains_finalizer(&object, "a/b"));
        object.metadata.finalizers.as_mut().unwrap().extend(["c/d".to_owned(), "a/b".to_owned()]);
        assert!(remove_finalizer(&mut object, "a/b"));
        assert!(!remove_finalizer(&mut object, "a/b"));
        assert_eq!(object.metadata.finalizers.unwrap(), ["c/d"]);
    }
}

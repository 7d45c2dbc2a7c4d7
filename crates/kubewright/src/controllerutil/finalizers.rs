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
/// The patch holds for the state that `object` shows: whoever else writes finalizers at the same time makes it a conflict, and nobody's
/// finalizer is lost.
///
/// # Errors
/// [`is_conflict`](ClientError::is_conflict) if `object` is not the latest state.
pub async fn ensure_finalizer<'a, K: View + Resource + Clone>(
    client: impl Into<Objects<'a, K>>,
    object: &K,
    finalizer: &str,
) -> Result<Option<K>, ClientError> {
    let mut wanted = object.clone();
    if add_finalizer(&mut wanted, finalizer) {
        write_finalizers(&client.into(), &wanted).await.map(Some)
    } else {
        Ok(None)
    }
}

/// Takes `finalizer` from the stored object if it is there. An object that is being deleted goes when its last finalizer does.
///
/// # Errors
/// [`is_conflict`](ClientError::is_conflict) if `object` is not the latest state.
pub async fn release_finalizer<'a, K: View + Resource + Clone>(
    client: impl Into<Objects<'a, K>>,
    object: &K,
    finalizer: &str,
) -> Result<(), ClientError> {
    let mut wanted = object.clone();
    if remove_finalizer(&mut wanted, finalizer) {
        write_finalizers(&client.into(), &wanted).await?;
    }
    Ok(())
}

async fn write_finalizers<K: View + Resource>(
    objects: &Objects<'_, K>,
    object: &K,
) -> Result<K, ClientError> {
    let meta = object.meta();
    let patch =
        json!({ "metadata": { "resourceVersion": meta.resource_version, "finalizers": meta.finalizers } });
    objects.patch(&ObjectKey::of(object), &Patch::Merge(patch)).await
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

//! Brings one object to a desired state, whether it exists or not.

use kube::{Resource, core::params::Patch};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    BoxError,
    client::{ClientError, Objects, Optional as _},
    object::{Kind, ObjectKey, View},
};

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationResult {
    /// The object was as desired: no request was made.
    Unchanged,
    /// The object did not exist.
    Created,
    /// The object was changed.
    Updated,
    /// The object and its status were changed, by two requests.
    UpdatedStatus,
    /// The status was changed, and nothing else.
    UpdatedStatusOnly,
}

/// An object could not be brought to its desired state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateOrUpdateError {
    /// A read or a write failed. After a conflict, or an "already exists", the cache was behind: try again.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The caller's function failed.
    #[error("failed to mutate {key}")]
    Mutate {
        /// The object.
        key: ObjectKey,
        /// What the function says.
        #[source]
        source: BoxError,
    },
    /// The caller's function made another object of it.
    #[error("the mutate function changed {from} into {to}: it must not change the name or the namespace")]
    Renamed {
        /// The object that was read.
        from: ObjectKey,
        /// What it became.
        to: ObjectKey,
    },
}

/// Reads the object that `object` names, lets `mutate` change it, and creates or replaces it if that made a difference.
///
/// `client` is a [`Client`](crate::client::Client) or, for a kind that is known at run time only, its [`Objects`].
///
/// `mutate` gets the object as it is stored, or `object` if there is none; it sets what it wants and leaves the rest. Where it resets a field that the API
/// server has filled in, the object changes at every call: set only what you mean.
///
/// # Errors
/// [`is_conflict`](ClientError::is_conflict) if somebody else has changed the object since it was read.
///
/// Source: controller-runtime `controllerutil.CreateOrUpdate`.
///
/// # Differences from Go
/// Objects are equal if their JSON is. For upstream a quantity of `1` and one of `1000m`, or an empty map and none, are equal too.
pub async fn create_or_update<'a, K, E>(
    client: impl Into<Objects<'a, K>>,
    object: K,
    mutate: impl FnOnce(&mut K) -> Result<(), E>,
) -> Result<(K, OperationResult), CreateOrUpdateError>
where
    K: View + Resource + Clone + Serialize,
    E: Into<BoxError>,
{
    let objects = client.into();
    let change = Change::prepare(&objects, object, mutate).await?;
    match change {
        Change::Create(object) => Ok((objects.create(&object).await?, OperationResult::Created)),
        Change::Update { before, after, .. } if before == encode(objects.kind(), &after)? => {
            Ok((after, OperationResult::Unchanged))
        }
        Change::Update { after, .. } => Ok((objects.update(&after).await?, OperationResult::Updated)),
    }
}

/// As [`create_or_update`], but sends the difference as a merge patch instead of the whole object: fields that nobody changed here are not overwritten, whatever others do
/// to them meanwhile.
///
/// A status that `mutate` changes is written by a second patch, through the status subresource, which the kind has to have. A new object is
/// created without it.
///
/// # Errors
/// If the second patch fails, the first has been carried out.
///
/// Source: controller-runtime `controllerutil.CreateOrPatch`.
pub async fn create_or_patch<'a, K, E>(
    client: impl Into<Objects<'a, K>>,
    object: K,
    mutate: impl FnOnce(&mut K) -> Result<(), E>,
) -> Result<(K, OperationResult), CreateOrUpdateError>
where
    K: View + Resource + Clone + Serialize,
    E: Into<BoxError>,
{
    let objects = client.into();
    let change = Change::prepare(&objects, object, mutate).await?;
    match change {
        Change::Create(object) => Ok((objects.create(&object).await?, OperationResult::Created)),
        Change::Update { key, before, after } => {
            let (patch, status_patch) = split_status(merge_patch(&before, &encode(objects.kind(), &after)?));
            let mut done = (after, OperationResult::Unchanged);
            if let Some(patch) = patch {
                done = (objects.patch(&key, &Patch::Merge(patch)).await?, OperationResult::Updated);
            }
            if let Some(patch) = status_patch {
                let result = match done.1 {
                    OperationResult::Unchanged => OperationResult::UpdatedStatusOnly,
                    _ => OperationResult::UpdatedStatus,
                };
                done = (objects.status().patch(&key, &Patch::Merge(patch)).await?, result);
            }
            Ok(done)
        }
    }
}

enum Change<K> {
    Create(K),
    Update { key: ObjectKey, before: Value, after: K },
}

impl<K: View + Resource + Clone + Serialize> Change<K> {
    async fn prepare<E: Into<BoxError>>(
        objects: &Objects<'_, K>,
        object: K,
        mutate: impl FnOnce(&mut K) -> Result<(), E>,
    ) -> Result<Self, CreateOrUpdateError> {
        let key = ObjectKey::of(&object);
        let (before, mut after) = match objects.get(&key).await.optional()? {
            Some(found) => (Some(encode(objects.kind(), &*found)?), K::clone(&found)),
            None => (None, object),
        };
        mutate(&mut after)
            .map_err(|source| CreateOrUpdateError::Mutate { key: key.clone(), source: source.into() })?;
        let to = ObjectKey::of(&after);
        if to != key {
            return Err(CreateOrUpdateError::Renamed { from: key, to });
        }
        Ok(match before {
            None => Self::Create(after),
            Some(before) => Self::Update { key, before, after },
        })
    }
}

pub(super) fn encode<K: Serialize>(kind: &Kind, object: &K) -> Result<Value, ClientError> {
    serde_json::to_value(object).map_err(|source| ClientError::Encode {
        kind: kind.clone(),
        key: ObjectKey::cluster_scoped(""),
        source,
    })
}

/// The part of a patch that ordinary writes carry out, and the part that only the status subresource does.
fn split_status(patch: Option<Value>) -> (Option<Value>, Option<Value>) {
    let Some(Value::Object(mut patch)) = patch else { return (patch, None) };
    let status_patch = patch.remove("status").map(|status| json!({ "status": status }));
    ((!patch.is_empty()).then_some(Value::Object(patch)), status_patch)
}

/// The merge patch (RFC 7386) that makes `after` of `before`; `None` if they are equal.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return Some(after.clone()) };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        let change =
            before.get(name).map_or_else(|| Some(value.clone()), |before| merge_patch(before, value));
        patch.extend(change.map(|change| (name.clone(), change)));
    }
    Some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_names_what_changed_and_nothing_else() {
        let before = json!({"a": 1, "b": {"c": 1, "d": [1, 2]}, "e": 1});
        let after = json!({"a": 1, "b": {"c": 2, "d": [1]}, "f": {"g": 1}});
        let patch = json!({"b": {"c": 2, "d": [1]}, "e": null, "f": {"g": 1}});
        assert_eq!(merge_patch(&before, &after), Some(patch));
        assert_eq!(merge_patch(&after, &after), None);
    }

    fn object() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<i64>().prop_map(Value::from), "[a-c]".prop_map(Value::from)];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop::collection::btree_map("[a-d]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
        })
    }

    fn apply(target: &mut Value, patch: Value) {
        let Value::Object(patch) = patch else {
            *target = patch;
            return;
        };
        if !target.is_object() {
            *target = json!({});
        }
        for (name, change) in patch {
            if change.is_null() {
                target.as_object_mut().unwrap().remove(&name);
            } else {
                apply(&mut target[name], change);
            }
        }
    }

    proptest! {
        #[test]
        fn the_patch_of_two_objects_makes_one_of_the_other(before in object(), after in object()) {
            let mut patched = before.clone();
            if let Some(patch) = merge_patch(&before, &after) { apply(&mut patched, patch); }
            prop_assert_eq!(patched, after);
        }
    }
}

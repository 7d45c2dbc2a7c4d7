//! Brings one object to a desired state, whether it exists or not.

use kube::Resource;
use serde::Serialize;

use super::{difference::Difference, edit::Original, mutate::MutateResult, write};
use crate::{
    BoxError,
    client::{ClientError, Objects, Optional as _},
    object::{Kind, ObjectKey, View},
};

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationResult {
    /// The object was as desired. Either no request was made, or the API server has changed nothing.
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
    #[error("failed to mutate {kind} \"{key}\"")]
    Mutate {
        /// The kind.
        kind: Kind,
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
/// `mutate` gets the object as it is stored, or `object` if there is none. It may edit it, or put a rendered one in its place (`*it = rendered`):
/// - Fields that the Rust type does not know stay as they are.
/// - What the API server writes (`uid`, `resourceVersion`, timestamps, …) stays, and the object is written only if it is still in the state that was read.
/// - Labels, annotations, finalizers and owners that an *edit* takes away go. Those that a *rendered* object does not name are somebody else's, and stay.
///
/// A change that the API server answers without changing anything (a quantity in another spelling, a field that it puts back to its default) counts as
/// [`Unchanged`](OperationResult::Unchanged), and is not sent again for ten minutes.
///
/// # Errors
/// [`is_conflict`](ClientError::is_conflict) if somebody else has changed the object since it was read.
///
/// Source: controller-runtime `controllerutil.CreateOrUpdate`.
///
/// # Differences from Go
/// - The document that was read is written, with what the function has changed; upstream writes the Go type, and drops what it does not know.
/// - A function that cannot fail returns nothing.
/// - An empty map and none are different, as they are in JSON; for upstream they are equal. Quantities are equal by value, as for upstream, where the Rust type says that they
///   are quantities: in a `DynamicObject` they are texts.
pub async fn create_or_update<'a, K, R>(
    client: impl Into<Objects<'a, K>>,
    object: K,
    mutate: impl FnOnce(&mut K) -> R,
) -> Result<(K, OperationResult), CreateOrUpdateError>
where
    K: View + Resource + Clone + Serialize,
    R: MutateResult,
{
    let objects = client.into();
    Ok(match Change::prepare(&objects, object, mutate).await? {
        Change::Create(object) => (objects.create(&object).await?, OperationResult::Created),
        Change::None(object) => (object, OperationResult::Unchanged),
        Change::Update { key, object, difference } => {
            match write::replace(&objects, &key, None, &difference).await? {
                Some(stored) => (stored, OperationResult::Updated),
                None => (object, OperationResult::Unchanged),
            }
        }
    })
}

/// As [`create_or_update`], but sends the difference as a merge patch instead of the whole object: fields that nobody changed here are not overwritten, whatever others do
/// to them meanwhile.
///
/// A status that `mutate` changes is written by a second patch, through the status subresource, which the kind has to have. A new object is
/// created without it.
///
/// A patch holds for the object that was read, not for another of its name. One that writes a list, finalizers and owners among them, or the status holds for the state that was
/// read, since it replaces them as a whole.
///
/// # Errors
/// [`is_conflict`](ClientError::is_conflict) if the object is another one by now, or if the patch writes a list or the status and somebody else has changed the object. If the second patch fails, the first
/// has been carried out.
///
/// Source: controller-runtime `controllerutil.CreateOrPatch`.
///
/// # Differences from Go
/// Upstream's patches hold for whatever has the name, in any state: finalizers and owners that somebody else has just added are lost.
pub async fn create_or_patch<'a, K, R>(
    client: impl Into<Objects<'a, K>>,
    object: K,
    mutate: impl FnOnce(&mut K) -> R,
) -> Result<(K, OperationResult), CreateOrUpdateError>
where
    K: View + Resource + Clone + Serialize,
    R: MutateResult,
{
    let objects = client.into();
    Ok(match Change::prepare(&objects, object, mutate).await? {
        Change::Create(object) => (objects.create(&object).await?, OperationResult::Created),
        Change::None(object) => (object, OperationResult::Unchanged),
        Change::Update { key, object, difference } => {
            write::patch(&objects, &key, object, &difference).await?
        }
    })
}

enum Change<K> {
    Create(K),
    /// The object is as it should be; this is it.
    None(K),
    Update {
        key: ObjectKey,
        object: K,
        difference: Difference,
    },
}

impl<K: View + Resource + Clone + Serialize> Change<K> {
    async fn prepare<R: MutateResult>(
        objects: &Objects<'_, K>,
        object: K,
        mutate: impl FnOnce(&mut K) -> R,
    ) -> Result<Self, CreateOrUpdateError> {
        let key = ObjectKey::of(&object);
        let original = Original::cached(objects, &key).await.optional()?;
        let mut edited = original.as_ref().map_or(object, |original| K::clone(&original.object));
        let failed =
            |source| CreateOrUpdateError::Mutate { kind: objects.kind().clone(), key: key.clone(), source };
        mutate(&mut edited).into_result().map_err(failed)?;
        let to = ObjectKey::of(&edited);
        if to != key {
            return Err(CreateOrUpdateError::Renamed { from: key, to });
        }
        let Some(original) = original else { return Ok(Self::Create(edited)) };
        let object = K::clone(&original.object);
        Ok(match original.difference(objects.kind(), &key, &edited)? {
            Some(difference) => Self::Update { key, object, difference },
            None => Self::None(object),
        })
    }
}

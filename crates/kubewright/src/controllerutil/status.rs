//! Status writes that do not lose to somebody else's, nor overwrite it.

use kube::Resource;
use serde::Serialize;

use super::{difference::Difference, edit::Original, write};
use crate::{
    client::{ClientError, Objects},
    object::{ObjectKey, View},
};

/// Reads an object, lets `mutate` change its status, and writes the status if that made a difference; after a conflict, again from the object's
/// latest state.
///
/// `mutate` may be called more than once, and decides each time from the object that it is given. What it changes outside of the status is not written, and fields of the status that the
/// Rust type does not know stay: another writer may have put them there. Gives the object as it is stored then.
///
/// # Errors
/// [`is_not_found`](ClientError::is_not_found) if the object is gone, also if another has taken its name between two tries; [`is_conflict`](ClientError::is_conflict) after the fifth conflict in a row.
///
/// Source: client-go `util/retry.RetryOnConflict` with `DefaultRetry`: five tries. Upstream waits 10 ms before each; here each
/// try reads the latest state first, which takes its time as well.
///
/// # Example: count what was seen
/// ```no_run
/// # use k8s_openapi::api::apps::v1::Deployment;
/// # use kubewright::{client::{Client, ClientError}, controllerutil::update_status, reconcile::Request};
/// # async fn example(client: &Client, request: &Request) -> Result<(), ClientError> {
/// update_status::<Deployment>(client, request, |deployment| {
///     deployment.status.get_or_insert_default().observed_generation = deployment.metadata.generation;
/// })
/// .await?;
/// # Ok(())
/// # }
/// ```
pub async fn update_status<'a, K: View + Resource + Clone + Serialize>(
    client: impl Into<Objects<'a, K>>,
    key: &ObjectKey,
    mutate: impl Fn(&mut K),
) -> Result<K, ClientError> {
    let objects = client.into();
    let mut original = Original::cached(&objects, key).await?;
    let uid = original.uid().map(ToOwned::to_owned);
    let mut tries = 1;
    loop {
        let mut edited = K::clone(&original.object);
        mutate(&mut edited);
        let difference = original.difference(objects.kind(), key, &edited)?;
        let Some(difference) = difference.and_then(Difference::of_status) else {
            return Ok(K::clone(&original.object));
        };
        match write::replace(&objects, key, Some("status"), &difference).await {
            Ok(Some(stored)) => return Ok(stored),
            Ok(None) => return Ok(K::clone(&original.object)),
            Err(error) if error.is_conflict() && tries < TRIES => {
                original = Original::live(&objects, key).await?;
            }
            Err(error) => return Err(error),
        }
        // The status was meant for an object that is gone.
        if original.uid() != uid.as_deref() {
            let (kind, key) = (objects.kind().clone(), key.clone());
            return Err(ClientError::Replaced { verb: "update", kind, key });
        }
        tries += 1;
    }
}

const TRIES: u32 = 5;

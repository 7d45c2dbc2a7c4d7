//! Status writes that do not lose to somebody else's.

use kube::Resource;
use serde::Serialize;

use super::create_or_update::encode;
use crate::{
    client::{ClientError, Objects},
    object::{ObjectKey, View},
};

/// Reads an object, lets `mutate` change its status, and writes the status if that made a difference; after a conflict, again from the object's
/// latest state.
///
/// `mutate` may be called more than once, and decides each time from the object that it is given. Gives the object as it is stored then.
///
/// # Errors
/// [`is_not_found`](ClientError::is_not_found) if the object is gone; [`is_conflict`](ClientError::is_conflict) after the fifth conflict in a row.
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
    let mut object = K::clone(&*objects.get(key).await?);
    let mut tries = 1;
    loop {
        let before = encode(objects.kind(), &object)?;
        mutate(&mut object);
        if encode(objects.kind(), &object)? == before {
            return Ok(object);
        }
        match objects.status().update(&object).await {
            Err(error) if error.is_conflict() && tries < TRIES => {
                object = objects.client().live().get_as(objects.kind(), key).await?;
            }
            result => return result,
        }
        tries += 1;
    }
}

const TRIES: u32 = 5;

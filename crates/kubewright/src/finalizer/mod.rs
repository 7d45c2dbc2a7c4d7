//! Finalizers by name: what has to be cleaned up before an object may go.
//!
//! [`controllerutil`] has the single steps; [`Finalizers`] is for objects with several of them.

mod error;

use std::{collections::BTreeMap, fmt, pin::Pin};

use kube::Resource;
use serde::Serialize;

pub use self::error::{AlreadyRegistered, FinalizeError, FinalizersError};
use crate::{
    BoxError,
    client::{Objects, Optional as _},
    controllerutil::{self, Original},
    object::{ObjectKey, View},
};

/// Cleans up before an object goes.
///
/// Source: controller-runtime `finalizer.Finalizer`.
///
/// # Differences from Go
/// It does not say what it has changed: [`Finalizers`] sees that, and writes it.
pub trait Finalizer<K>: Send + Sync + 'static {
    /// Cleans up. May change `object`, its status included, to tell how far it is.
    ///
    /// Called again after an error, and also if the object could not be written afterwards: what is cleaned up already is no error.
    ///
    /// # Errors
    /// Any error keeps the finalizer on the object. What `object` tells is written all the same.
    fn finalize(&self, object: &mut K) -> impl Future<Output = Result<(), BoxError>> + Send;
}

/// Finalizers by name.
///
/// # Example: an object that has an archive and a bucket
/// ```
/// use k8s_openapi::api::core::v1::PersistentVolumeClaim;
/// use kubewright::{client::Client, finalizer::{Finalizer, Finalizers}, prelude::*};
///
/// struct Archive;
///
/// impl Finalizer<PersistentVolumeClaim> for Archive {
///     async fn finalize(&self, claim: &mut PersistentVolumeClaim) -> Result<(), BoxError> {
///         claim.status.get_or_insert_default().phase = Some("Archiving".to_owned());
///         Err("the archive is busy".into())
///     }
/// }
///
/// struct Bucket;
///
/// impl Finalizer<PersistentVolumeClaim> for Bucket {
///     async fn finalize(&self, _: &mut PersistentVolumeClaim) -> Result<(), BoxError> {
///         Ok(())
///     }
/// }
///
/// struct Claims {
///     client: Client,
///     finalizers: Finalizers<PersistentVolumeClaim>,
/// }
///
/// impl Claims {
///     fn new(client: Client) -> Result<Self, BoxError> {
///         let mut finalizers = Finalizers::new();
///         finalizers.register("example.com/archive", Archive)?;
///         finalizers.register("example.com/bucket", Bucket)?;
///         Ok(Self { client, finalizers })
///     }
/// }
///
/// impl Reconciler for Claims {
///     type Error = BoxError;
///
///     async fn reconcile(&self, _: Context, request: Request) -> Result<Action, BoxError> {
///         let Some(claim) = self.finalizers.finalize(&self.client, &request).await? else {
///             return Ok(Action::await_change());
///         };
///         println!("{request} lives, and has both finalizers: {:?}", claim.metadata.finalizers);
///         Ok(Action::await_change())
///     }
/// }
/// ```
///
/// Source: controller-runtime `finalizer.Finalizers`.
///
/// # Differences from Go
/// - The object is read and written here. There it is changed in memory, and a caller who forgets one of the two writes, or makes them in the wrong order, loses what a finalizer did.
/// - Finalizers run in the order of their names; upstream's order is random.
pub struct Finalizers<K> {
    by_name: BTreeMap<String, Box<dyn DynFinalizer<K>>>,
}

impl<K> Finalizers<K> {
    /// No finalizers.
    pub fn new() -> Self {
        Self { by_name: BTreeMap::new() }
    }

    /// Adds a finalizer under `name`, which has to be a qualified name such as `example.com/archive`.
    ///
    /// # Errors
    /// If there is one of that name.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        finalizer: impl Finalizer<K>,
    ) -> Result<(), AlreadyRegistered> {
        let name = name.into();
        if self.by_name.contains_key(&name) {
            return Err(AlreadyRegistered(name));
        }
        self.by_name.insert(name, Box::new(finalizer));
        Ok(())
    }
}

impl<K: View + Resource + Clone + Serialize> Finalizers<K> {
    /// Gives a living object the finalizers that it lacks, and gives it back as it is stored then. Runs those of an object that is being deleted, and takes away each that succeeds;
    /// there is nothing left to reconcile then, as there is not if the object is gone: that is `None`.
    ///
    /// What a finalizer changed is written as the helpers of [`controllerutil`] write: for the object and the state that were read, and without what nobody changed. The status is
    /// written after the rest, unless the object went with its last finalizer.
    ///
    /// # Errors
    /// [`FinalizersError::Failed`] if finalizers failed, after everything was written; [`FinalizersError::Client`] if that failed: what ran will run again.
    ///
    /// # Cancel safety
    /// A finalizer that has run may run again, and a request that was sent may be carried out.
    pub async fn finalize<'a>(
        &self,
        client: impl Into<Objects<'a, K>>,
        key: &ObjectKey,
    ) -> Result<Option<K>, FinalizersError> {
        let objects = client.into();
        let Some(original) = Original::cached(&objects, key).await.optional()? else { return Ok(None) };
        let read = &*original.object;
        let mut object = read.clone();
        let failed = self.run(&mut object).await;
        let object = match original.difference(objects.kind(), key, &object)? {
            Some(difference) => controllerutil::patch(&objects, key, read.clone(), &difference).await?.0,
            None => object,
        };
        if !failed.is_empty() {
            let (kind, key) = (objects.kind().clone(), key.clone());
            return Err(FinalizersError::Failed { kind, key, failed });
        }
        Ok(is_living(read).then_some(object))
    }

    /// Does all of it in memory. Gives those that failed.
    async fn run(&self, object: &mut K) -> Vec<FinalizeError> {
        let mut failed = Vec::new();
        if is_living(object) {
            for name in self.by_name.keys() {
                controllerutil::add_finalizer(object, name);
            }
            return failed;
        }
        let read = object.meta().clone();
        let mut left = read.finalizers.unwrap_or_default();
        for (name, finalizer) in &self.by_name {
            if !left.contains(name) {
                continue;
            }
            match finalizer.finalize(object).await {
                Ok(()) => left.retain(|other| other != name),
                Err(source) => failed.push(FinalizeError { name: name.clone(), source }),
            }
        }
        // Which object it is, and who else holds it, is not for a finalizer to say.
        let meta = object.meta_mut();
        (meta.uid, meta.resource_version) = (read.uid, read.resource_version);
        meta.finalizers = Some(left).filter(|left| !left.is_empty());
        failed
    }
}

fn is_living<K: Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_none()
}

impl<K> Default for Finalizers<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Finalizers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_name.keys()).finish()
    }
}

/// [`Finalizer`] as a value.
trait DynFinalizer<K>: Send + Sync + 'static {
    fn finalize<'a>(
        &'a self,
        object: &'a mut K,
    ) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;
}

impl<K, T: Finalizer<K>> DynFinalizer<K> for T {
    fn finalize<'a>(
        &'a self,
        object: &'a mut K,
    ) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>> {
        Box::pin(Finalizer::finalize(self, object))
    }
}

#[cfg(test)]
mod tests;

//! Finalizers by name: what has to be cleaned up before an object may go.
//!
//! [`controllerutil`] has the single steps; [`Finalizers`] is for objects with several of them.

use std::{collections::BTreeMap, fmt, pin::Pin};

use kube::Resource;

use crate::{BoxError, controllerutil};

/// Cleans up before an object goes.
///
/// Source: controller-runtime `finalizer.Finalizer`.
pub trait Finalizer<K>: Send + Sync + 'static {
    /// Cleans up. May change `object`'s metadata and status, and says so. Called again after an error, or if the process ended before the
    /// caller had written the object.
    ///
    /// # Errors
    /// Any error becomes a [`Failure`]; one that has changed the object as well says so in [`Failure::with_changes`].
    fn finalize(&self, object: &mut K) -> impl Future<Output = Result<Changes, Failure>> + Send;
}

/// Which parts of an object were changed, in memory, and are to be written by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Metadata or spec: an ordinary write.
    pub updated: bool,
    /// Status: a write of the status.
    pub status_updated: bool,
}

impl Changes {
    /// Nothing was changed.
    pub fn none() -> Self {
        Self::default()
    }

    /// Metadata or spec was changed.
    #[must_use]
    pub fn updated(self) -> Self {
        Self { updated: true, ..self }
    }

    /// The status was changed.
    #[must_use]
    pub fn status_updated(self) -> Self {
        Self { status_updated: true, ..self }
    }

    fn merge(&mut self, other: Self) {
        self.updated |= other.updated;
        self.status_updated |= other.status_updated;
    }
}

/// A finalizer did not get through; the operator `?` makes one of any error.
///
/// # Example: a condition tells why the object is still there
/// ```
/// use k8s_openapi::api::core::v1::PersistentVolumeClaim;
/// use kubewright::finalizer::{Changes, Failure, Finalizer};
///
/// struct Archive;
///
/// impl Finalizer<PersistentVolumeClaim> for Archive {
///     async fn finalize(&self, claim: &mut PersistentVolumeClaim) -> Result<Changes, Failure> {
///         claim.status.get_or_insert_default().phase = Some("Archiving".to_owned());
///         Err(Failure::new("the archive is busy").with_changes(Changes::none().status_updated()))
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Failure {
    changes: Changes,
    source: BoxError,
}

impl Failure {
    /// A failure that has changed nothing.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self { changes: Changes::none(), source: error.into() }
    }

    /// What the finalizer changed all the same. Default: nothing.
    #[must_use]
    pub fn with_changes(self, changes: Changes) -> Self {
        Self { changes, ..self }
    }
}

impl<E: Into<BoxError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}

/// What a round of finalizers did. Changes are to be written even if some of them failed: the others must not run again.
#[derive(Debug, Default)]
#[must_use]
pub struct Finalized {
    /// What the caller has to write.
    pub changes: Changes,
    /// Which finalizers failed, and stay on the object.
    pub failed: Vec<FinalizeError>,
}

/// A finalizer failed; its object stays until it succeeds.
#[derive(Debug, thiserror::Error)]
#[error("finalizer {name} failed")]
pub struct FinalizeError {
    /// The finalizer.
    pub name: String,
    /// What it says.
    #[source]
    pub source: BoxError,
}

/// A finalizer of this name is registered already; the author has to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("finalizer for key {0:?} already registered")]
pub struct AlreadyRegistered(pub String);

/// Finalizers by name.
///
/// Source: controller-runtime `finalizer.Finalizers`.
///
/// # Differences from Go
/// Finalizers run in the order of their names; upstream's order is random. Errors come one by one, each with the name of its finalizer.
pub struct Finalizers<K> {
    by_name: BTreeMap<String, Box<dyn DynFinalizer<K>>>,
}

impl<K: Resource + 'static> Finalizers<K> {
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

    /// Adds to a living object the finalizers that it lacks; runs those of an object that is being deleted, and takes away each that
    /// succeeds. Changes `object` in memory; the caller writes it.
    pub async fn finalize(&self, object: &mut K) -> Finalized {
        let is_deleting = object.meta().deletion_timestamp.is_some();
        let mut result = Finalized::default();
        for (name, finalizer) in &self.by_name {
            if !is_deleting {
                result.changes.updated |= controllerutil::add_finalizer(object, name);
            } else if controllerutil::contains_finalizer(object, name) {
                match finalizer.finalize(object).await {
                    Ok(changes) => {
                        result.changes.merge(changes);
                        result.changes.updated |= controllerutil::remove_finalizer(object, name);
                    }
                    Err(Failure { changes, source }) => {
                        result.changes.merge(changes);
                        result.failed.push(FinalizeError { name: name.clone(), source });
                    }
                }
            }
        }
        result
    }
}

impl<K: Resource + 'static> Default for Finalizers<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Finalizers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_name.keys()).finish()
    }
}

trait DynFinalizer<K>: Send + Sync + 'static {
    fn finalize<'a>(
        &'a self,
        object: &'a mut K,
    ) -> Pin<Box<dyn Future<Output = Result<Changes, Failure>> + Send + 'a>>;
}

impl<K, T: Finalizer<K>> DynFinalizer<K> for T {
    fn finalize<'a>(
        &'a self,
        object: &'a mut K,
    ) -> Pin<Box<dyn Future<Output = Result<Changes, Failure>> + Send + 'a>> {
        Box::pin(Finalizer::finalize(self, object))
    }
}

#[cfg(test)]
mod tests;

//! Why finalizers could not be run, or did not get through.

use crate::{
    BoxError,
    client::ClientError,
    error,
    object::{Kind, ObjectKey},
};

/// A finalizer of this name is registered already; the author has to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("finalizer for key {0:?} already registered")]
pub struct AlreadyRegistered(pub String);

/// An object is not finalized.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FinalizersError {
    /// A read or a write failed. After a conflict the finalizers run again.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Some finalizers failed, and stay on the object. What the others did has been written.
    // There may be several causes, so they are part of the text.
    #[error("failed to finalize {kind} \"{key}\": {}", causes(.failed))]
    Failed {
        /// The kind.
        kind: Kind,
        /// The object.
        key: ObjectKey,
        /// Those that failed, in the order of their names.
        failed: Vec<FinalizeError>,
    },
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

fn causes(failed: &[FinalizeError]) -> String {
    failed.iter().map(|error| error::chain(error)).collect::<Vec<_>>().join("; ")
}

//! What can go wrong with a read or a write.

use std::time::Duration;

use kube::core::Status;

use crate::{
    cache::CacheError,
    object::{Kind, ObjectKey},
};

/// A client could not do what was asked.
///
/// Callers branch on meaning, as with Go's `apierrors`: [`is_not_found`](Self::is_not_found), [`is_conflict`](Self::is_conflict), …
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// What the cache says of an object: it has none of this name, or one that does not decode.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The cache could not be read: it does not run, or the kind could not be listed.
    #[error("failed to {verb} {kind}{}", of_key(key))]
    CachedRead {
        /// The verb that was tried.
        verb: &'static str,
        /// The kind.
        kind: Kind,
        /// The object; for a list, the namespace, if it was one.
        key: String,
        /// Why.
        #[source]
        source: Box<CacheError>,
    },
    /// The API server refused a request. Its words say who can mend it.
    #[error("failed to {verb} {kind}{}", of_key(key))]
    Api {
        /// The verb that was refused.
        verb: &'static str,
        /// The kind.
        kind: Kind,
        /// The object; for a list, the namespace.
        key: String,
        /// The answer.
        #[source]
        source: Box<Status>,
    },
    /// A request could not be sent, or its answer could not be read. A write may have been carried out.
    #[error("failed to {verb} {kind}{}", of_key(key))]
    Request {
        /// The verb that was tried.
        verb: &'static str,
        /// The kind.
        kind: Kind,
        /// The object; for a list, the namespace.
        key: String,
        /// What went wrong.
        #[source]
        source: Box<kube::Error>,
    },
    /// The cache has not seen an own write of the object in time. The watch is behind; trying again later helps.
    #[error("the cache of {kind} has not seen the last write of \"{key}\" within {waited:?}")]
    NotYetObserved {
        /// The kind that was read.
        kind: Kind,
        /// The object that was written.
        key: ObjectKey,
        /// How long the read waited.
        waited: Duration,
    },
    /// The object cannot be written as it is; the caller has to mend it.
    #[error("failed to encode {kind} \"{key}\"")]
    Encode {
        /// The kind.
        kind: Kind,
        /// The object.
        key: ObjectKey,
        /// What the encoder says.
        #[source]
        source: serde_json::Error,
    },
    /// The object lacks what the request needs; the caller has to mend it.
    #[error("{kind} \"{key}\" has no {field}")]
    Incomplete {
        /// The kind.
        kind: Kind,
        /// As much of the object's key as there is.
        key: ObjectKey,
        /// The field that is not set.
        field: &'static str,
    },
    /// Objects that are read as metadata alone cannot be stored: the rest would be lost. The caller can patch them.
    #[error("cannot {verb} {kind} using only metadata: patch it, or use the whole type")]
    MetadataOnly {
        /// The verb that was tried.
        verb: &'static str,
        /// The kind.
        kind: Kind,
    },
    /// Another object has taken the name of the one that was to be written, which is gone: what was computed for it holds for nobody.
    #[error("failed to {verb} {kind} \"{key}\": another object has taken its name")]
    Replaced {
        /// The verb that was tried.
        verb: &'static str,
        /// The kind.
        kind: Kind,
        /// The object.
        key: ObjectKey,
    },
}

impl ClientError {
    /// Says what was to be read, where the cache could not.
    pub(super) fn of_read(self, verb: &'static str, kind: &Kind, key: &str) -> Self {
        match self {
            Self::Cache(error) if !matches!(error, CacheError::NotFound { .. } | CacheError::Decode(_)) => {
                Self::CachedRead { verb, kind: kind.clone(), key: key.to_owned(), source: Box::new(error) }
            }
            error => error,
        }
    }

    /// The object does not exist; another may have taken its name.
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::Cache(error) => error.is_not_found(),
            Self::Replaced { .. } => true,
            _ => self.reason_is(Status::is_not_found),
        }
    }

    /// Somebody else has changed the object since it was read, or has created it anew.
    ///
    /// A patch that names another `metadata.uid` than the object has is answered as an invalid change of that field.
    pub fn is_conflict(&self) -> bool {
        let is_of_uid = |status: &Status| {
            let causes = status.details.iter().flat_map(|details| &details.causes);
            status.is_invalid() && causes.into_iter().any(|cause| cause.field == "metadata.uid")
        };
        self.reason_is(|status| status.is_conflict() || is_of_uid(status))
    }

    /// There is an object of this name.
    pub fn is_already_exists(&self) -> bool {
        self.reason_is(Status::is_already_exists)
    }

    /// The API server finds fault with the object.
    pub fn is_invalid(&self) -> bool {
        self.reason_is(Status::is_invalid)
    }

    /// The caller lacks a permission; for a cached read, the one to list or watch the kind.
    pub fn is_forbidden(&self) -> bool {
        match self {
            Self::CachedRead { source, .. } => source.is_forbidden(),
            _ => self.reason_is(Status::is_forbidden),
        }
    }

    /// The API server's answer, if there was one.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Api { source, .. } => Some(source),
            _ => None,
        }
    }

    fn reason_is(&self, test: impl FnOnce(&Status) -> bool) -> bool {
        self.status().is_some_and(test)
    }
}

/// A list of all namespaces has no key.
fn of_key(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!(" \"{key}\"") }
}

/// Turns "not found" into an absence.
pub trait Optional {
    /// What is absent.
    type Value;

    /// `Ok(None)` if the object does not exist.
    fn optional(self) -> Result<Option<Self::Value>, ClientError>;
}

impl<T> Optional for Result<T, ClientError> {
    type Value = T;

    fn optional(self) -> Result<Option<T>, ClientError> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

//! What can go wrong with a cached read.

use std::time::Duration;

use super::store::DecodeError;
use crate::object::{Kind, ObjectKey};

/// A cache could not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The cache has no such object. The caller decides what that means; for a reconciler it usually means that the work is done.
    #[error("{kind} \"{key}\" not found")]
    NotFound {
        /// The kind that was read.
        kind: Kind,
        /// The object that is not there.
        key: ObjectKey,
    },
    /// The object is there but is not what its type says.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The cache has not been started; the caller has to start the manager first.
    #[error("the cache is not started, can not read objects")]
    NotStarted,
    /// [`Cache::start`](super::Cache::start) was called twice.
    #[error("the cache was already started")]
    AlreadyStarted,
    /// The cache has been stopped, as when the process shuts down.
    #[error("the cache has stopped")]
    Stopped,
    /// The first list of a kind is not complete yet.
    #[error("the cache of {kind} has not synced")]
    NotSynced {
        /// The kind that is not synced.
        kind: Kind,
        /// Why it was last not possible to list and watch the kind, if it was not.
        #[source]
        failure: Option<ListWatchError>,
    },
    /// The first list of a kind is not complete after [`CacheOptions::sync_timeout`](super::CacheOptions::sync_timeout); the cluster can
    /// mend it (a missing CRD, a missing permission).
    #[error("failed to wait for the cache of {kind} to sync within {timeout:?}")]
    SyncTimeout {
        /// The kind that is not synced.
        kind: Kind,
        /// How long the wait was.
        timeout: Duration,
        /// Why it was last not possible to list and watch the kind, if it was not.
        #[source]
        failure: Option<ListWatchError>,
    },
    /// The API server refuses to list and watch the kind: it is not installed, or a permission is missing. Whoever runs the cluster can mend it;
    /// the cache goes on trying, at once (but not more than once a second) after a read that found this, so a later read finds it mended.
    #[error("the API server does not let the cache read {kind}")]
    Refused {
        /// The kind that was read.
        kind: Kind,
        /// What the API server says.
        #[source]
        failure: ListWatchError,
    },
    /// An informer's task died; this is a bug of kubewright.
    #[error("an informer failed: {0}")]
    InformerFailed(String),
}

impl CacheError {
    /// The object does not exist, as far as the cache knows. A kind that is not installed is something else: it is [`Refused`](Self::Refused).
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// The cache lacks the permission to list or watch the kind.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused { failure, .. } if failure.code == Some(403))
    }
}

/// Why a kind could not be listed and watched.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{text}")]
pub struct ListWatchError {
    text: String,
    code: Option<u16>,
}

impl ListWatchError {
    /// `code`: the HTTP status, if the API server answered.
    pub(crate) fn new(text: String, code: Option<u16>) -> Self {
        Self { text, code }
    }
}

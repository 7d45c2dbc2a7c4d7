//! What can go wrong with an election.

use std::time::Duration;

use crate::BoxError;

/// A process cannot take part in an election, or does not lead any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaderElectionError {
    /// Nobody says in which namespace the lease is; who runs the process has to.
    #[error("unable to find leader election namespace: not running in-cluster, please specify a namespace")]
    Namespace(#[source] std::io::Error),
    /// The options do not fit each other; the caller has to mend them.
    #[error("invalid leader election: {0}")]
    Invalid(&'static str),
    /// The lease could not be renewed in time. The source says how the last attempt ended.
    #[error("failed to renew {lock} within {renew_deadline:?}")]
    Deadline {
        /// The lock.
        lock: String,
        /// How long was tried.
        renew_deadline: Duration,
        /// The last failure, if any attempt had ended.
        #[source]
        source: Option<LockError>,
    },
    /// Somebody else holds the lease.
    #[error("{lock} is held by {holder}")]
    Taken {
        /// The lock.
        lock: String,
        /// Who holds it.
        holder: String,
    },
}

/// A lock could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Somebody has written since the lock was last read; reading it again helps.
    #[error("the lock has changed since it was read")]
    Conflict,
    /// The process lacks a right; who installs the operator has to grant it.
    #[error("this process needs the right to {verb} {resource} in namespace \"{namespace}\"")]
    Forbidden {
        /// What it must be allowed to do.
        verb: &'static str,
        /// With what: `leases.coordination.k8s.io`.
        resource: &'static str,
        /// Where.
        namespace: String,
        /// The API server's words.
        #[source]
        source: BoxError,
    },
    /// There was no answer in time. A write may have been carried out.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// Anything else. A write may have been carried out.
    #[error("failed to {verb} the lock")]
    Request {
        /// What was tried.
        verb: &'static str,
        /// What went wrong.
        #[source]
        source: BoxError,
    },
}

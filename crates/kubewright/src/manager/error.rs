//! What can go wrong with a manager.

use std::{borrow::Cow, time::Duration};

use crate::{
    BoxError, cache::CacheError, cluster::ClusterError, http_server::RegisterError,
    leader_election::LeaderElectionError,
};

/// A manager cannot be made, or does not take what it is given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// The manager's own cluster cannot be made.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The manager cannot take part in the election that it was asked to.
    #[error("failed during initialization leader election process")]
    LeaderElection(#[from] LeaderElectionError),
    /// An endpoint cannot be where it should.
    #[error("failed to mount an endpoint")]
    Path(#[from] RegisterError),
    /// Nothing can be added any more.
    #[error("can't accept new runnable as stop procedure is already engaged")]
    Stopping,
}

/// A running manager gave up, or did not stop in time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// `start` was called before.
    #[error("manager already started")]
    AlreadyStarted,
    /// The cache failed.
    #[error("the cache failed")]
    Cache(#[from] CacheError),
    /// The process cannot become the leader.
    #[error("failed during leader election")]
    Election(#[source] BoxError),
    /// Another process may lead now: this one has to end at once.
    #[error("leader election lost")]
    LeadershipLost(#[source] BoxError),
    /// Something that the manager runs ended with an error.
    #[error("{name} failed")]
    Runnable {
        /// What failed.
        name: Cow<'static, str>,
        /// What it says.
        #[source]
        source: BoxError,
    },
    /// Something that the manager runs panicked.
    #[error("{name} panicked: {message}")]
    Panicked {
        /// What panicked.
        name: Cow<'static, str>,
        /// What the panic said.
        message: String,
    },
    /// Something was still running at the end of the grace period, and was aborted.
    #[error("failed waiting for all runnables to end within grace period of {grace:?}: late were {}", .late.join(", "))]
    GracePeriod {
        /// How long the manager waited.
        grace: Duration,
        /// What had to be aborted, by name.
        late: Vec<Cow<'static, str>>,
    },
}

impl StartError {
    /// Another process may lead now. Nothing of the manager runs any more, so this one may end, as upstream's has to, or build another manager and compete
    /// again. That one starts from the beginning: its caches list, and its servers listen anew.
    ///
    /// # Example: a process that competes again
    /// ```no_run
    /// # use kubewright::manager::{ManagerBuilder, StartError};
    /// # async fn example(build: impl AsyncFn() -> anyhow::Result<kubewright::manager::Manager>) -> anyhow::Result<()> {
    /// loop {
    ///     let manager = build().await?;
    ///     match manager.start(kubewright::signals::shutdown()).await {
    ///         Err(ended) if ended.is_leadership_lost() => tracing::warn!("competing again"),
    ///         ended => return Ok(ended?),
    ///     }
    /// }
    /// # }
    /// ```
    pub fn is_leadership_lost(&self) -> bool {
        matches!(self, Self::LeadershipLost(_))
    }
}

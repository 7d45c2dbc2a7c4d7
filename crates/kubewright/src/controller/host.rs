//! Where a controller lives.

use std::{fmt, pin::Pin, sync::Arc};

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{BuildError, ControllerOptions};
use crate::{BoxError, cache::Cache, metrics::Registry};

/// What a controller needs of whoever runs it. A [`Manager`](crate::manager::Manager) is one: `Controller::builder(&manager)`.
#[derive(Clone)]
pub struct Host {
    /// What its watches read.
    pub(crate) cache: Cache,
    /// What its options start from.
    pub(crate) controller_defaults: ControllerOptions,
    /// Fires when this process leads.
    pub(crate) elected: CancellationToken,
    /// Where it is measured.
    pub(crate) registry: Registry,
    /// Knows every task of it, so that none is left when it was aborted.
    pub(crate) tracker: TaskTracker,
    /// Takes it when it is complete.
    pub(crate) add: Arc<dyn Fn(Hosted) -> Result<(), BuildError> + Send + Sync>,
}

/// A controller on its way to its host, whatever its requests are.
pub(crate) struct Hosted {
    pub(crate) name: Arc<str>,
    pub(crate) needs_leader_election: bool,
    /// It starts early, and holds its workers back by itself.
    pub(crate) enable_warmup: bool,
    pub(crate) start: Box<dyn FnOnce(CancellationToken, Report) -> Running + Send>,
}

/// Takes the failure of something that has not ended yet.
pub(crate) type Report = Box<dyn FnOnce(BoxError) + Send>;

/// A hosted controller at work.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("cache", &self.cache).finish_non_exhaustive()
    }
}

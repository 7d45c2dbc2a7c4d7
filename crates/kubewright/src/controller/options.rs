//! How a controller behaves.

use std::{collections::BTreeMap, num::NonZeroUsize, time::Duration};

/// How a controller behaves.
///
/// Source: controller-runtime `controller.TypedOptions`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ControllerOptions {
    /// How many requests are reconciled at once. One request is never reconciled twice at once, whatever this says.
    ///
    /// Default: 1.
    pub max_concurrent_reconciles: NonZeroUsize,

    /// How many requests of the controllers *for* a kind are reconciled at once, by kind and group, as in `Deployment.apps` or `Pod`; for
    /// controllers that do not say it themselves.
    ///
    /// Default: empty. Source: controller-runtime `config.Controller.GroupKindConcurrency`.
    pub group_kind_concurrency: BTreeMap<String, NonZeroUsize>,

    /// Whether the controller runs on the leader alone. Without leader election every manager leads.
    ///
    /// Default: `true`.
    pub needs_leader_election: bool,

    /// Whether the sources of a controller that needs leader election start before it: the queue of a standby is full when it becomes the
    /// leader. No effect on controllers that do not need leader election.
    ///
    /// Default: `false`.
    pub enable_warmup: bool,

    /// How long the sources may take to start, and then to sync, before the controller fails.
    ///
    /// Default: 2 min.
    pub cache_sync_timeout: Duration,

    /// How long one reconcile may take before it is dropped and counts as failed.
    ///
    /// Default: `None`, no limit.
    ///
    /// # Differences from Go
    /// Upstream's deadline is advice: a reconciler that does not look at its context goes on. A future that is dropped stops at its next
    /// await point.
    pub reconciliation_timeout: Option<Duration>,

    /// Whether a panic in a reconcile is an error of that reconcile; otherwise it stops the controller, and with it the manager.
    ///
    /// Default: `true`.
    pub recover_panic: bool,
}

impl Default for ControllerOptions {
    fn default() -> Self {
        Self {
            max_concurrent_reconciles: NonZeroUsize::MIN,
            group_kind_concurrency: BTreeMap::new(),
            needs_leader_election: true,
            enable_warmup: false,
            cache_sync_timeout: Duration::from_secs(120),
            reconciliation_timeout: None,
            recover_panic: true,
        }
    }
}

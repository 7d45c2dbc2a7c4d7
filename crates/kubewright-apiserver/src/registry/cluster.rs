//! What a cluster is: what it stores, and what is read off that or handed out beside it.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{bootstrap::bootstrap, definition::Settling, expiry::Expiry};
use crate::{
    admission::Admission,
    clock::Clock,
    identity::Identity,
    kind::{Kind, Kinds, Served},
    service_tokens::ServiceTokens,
    storage::{Limits, Store},
    webhook::Caller,
};

/// What all requests share, whichever door they come through.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) store: Store,
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) admission: Admission,
    pub(crate) caller: Arc<Caller>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) identity: Arc<Identity>,
    pub(crate) bookmark_interval: Duration,
    pub(super) service_tokens: ServiceTokens,
    pub(super) settling: Settling,
    pub(super) expiry: Expiry,
}

/// What a cluster is made of.
#[derive(Debug)]
pub(crate) struct ClusterOptions {
    pub(crate) limits: Limits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) identity: Identity,
    pub(crate) bookmark_interval: Duration,
}

impl Cluster {
    /// A cluster with what every one has: four namespaces and the Service `kubernetes`.
    pub(crate) fn new(options: ClusterOptions) -> Self {
        let ClusterOptions { limits, clock, identity, bookmark_interval } = options;
        let store = Store::new(limits, first_revision(clock.now()));
        let identity = Arc::new(identity);
        let caller = Arc::new(Caller::new(identity.clone()));
        let kinds = Arc::new(Kinds::calling(caller.clone()));
        let cluster = Self {
            admission: Admission::new(store.clone(), kinds.clone(), caller.clone()),
            caller,
            store,
            kinds,
            clock,
            identity,
            bookmark_interval,
            service_tokens: ServiceTokens::default(),
            settling: Settling::default(),
            expiry: Expiry::default(),
        };
        bootstrap(&cluster);
        cluster
    }

    /// Removes objects of a kind that expire and are due.
    pub(crate) fn expire(&self, kind: &Kind) {
        if kind.strategy.time_to_live().is_some() {
            self.expiry.remove_due(&self.store, kind);
        }
    }

    /// The kinds that are served. Definitions that were written before this call are among them.
    pub(crate) fn served(&self) -> Arc<Served> {
        self.kinds.caught_up(&self.store)
    }
}

/// The revision of a new server: microseconds since 1970.
///
/// A client may outlive the server, which forgets everything, and bring versions of its predecessor. They have to
/// be of the past, or the client waits for a future that it has already seen. No server makes a revision each
/// microsecond, so that a later one starts beyond all of them.
fn first_revision(now: Timestamp) -> u64 {
    u64::try_from(now.as_microsecond()).unwrap_or_default().max(1)
}

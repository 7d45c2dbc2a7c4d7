//! Events expire: an hour after they were written they are removed.
//!
//! etcd does that with leases and a clock of its own. Here whoever comes for Events removes those that are due first,
//! so that no task has to run, and nobody sees one that is too old.
//!
//! # Differences from Go
//! A watch that nobody else disturbs hears of the removal with the next request for Events, not at the minute.

use std::{collections::VecDeque, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{
    kind::Kind,
    object::Document,
    storage::{Key, Store},
};

/// The Events that were written, oldest first. One that was written again stands in it twice, and only the last counts.
#[derive(Debug, Default)]
pub(super) struct Expiry(Mutex<VecDeque<Lease>>);

#[derive(Debug)]
struct Lease {
    ends: Instant,
    key: Key,
    revision: u64,
}

impl Expiry {
    /// An Event was written.
    pub(super) fn renew(&self, key: &Key, document: &Document, time_to_live: Duration) {
        let lease =
            Lease { ends: Instant::now() + time_to_live, key: key.clone(), revision: document.revision() };
        self.0.lock().push_back(lease);
    }

    /// Removes what is due.
    pub(super) fn remove_due(&self, store: &Store, kind: &Kind) {
        while let Some(lease) = self.next_due() {
            // An Event that has been written since is not at this revision any longer, and has another lease.
            let _ = store.remove(&kind.prefix, &lease.key, lease.revision);
        }
    }

    fn next_due(&self) -> Option<Lease> {
        let mut leases = self.0.lock();
        if leases.front()?.ends > Instant::now() {
            return None;
        }
        leases.pop_front()
    }
}

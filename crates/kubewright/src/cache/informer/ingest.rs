//! Takes what the reflector brings into the store, and tells the subscribers.

use std::{sync::Arc, time::Duration};

use hashbrown::HashSet;

use super::{Shared, State};
use crate::{
    cache::{
        reflector::{Failure, Sink},
        store::{Applied, Entry, HeaderError, Past},
    },
    error,
    object::{Kind, ObjectKey},
};

/// The informer's end of the reflector.
///
/// A list is applied object by object while the store serves reads: what has not changed keeps its entry, so a relist needs memory for
/// what changed and for the keys it saw. What it did not see is removed at its end.
pub(super) struct Ingest {
    kind: Kind,
    shared: Arc<Shared>,
    list: Option<Listing>,
}

struct Listing {
    past: Past,
    /// `None` for a list into an empty store: there is nothing that it could have missed.
    seen: Option<HashSet<ObjectKey>>,
}

impl Ingest {
    pub(super) fn new(kind: Kind, shared: Arc<Shared>) -> Self {
        Self { kind, shared, list: None }
    }

    fn apply(&mut self, object: &[u8]) -> Option<Arc<Entry>> {
        let past = self.list.as_ref().map_or(Past::Refused, |list| list.past);
        let mut state = self.shared.state.write();
        let State { store, subscribers, .. } = &mut *state;
        match store.apply(object, past) {
            Ok(Applied::Added { new }) => {
                subscribers.added(&new);
                Some(new)
            }
            Ok(Applied::Updated { old, new }) => {
                subscribers.updated(&old, &new);
                Some(new)
            }
            Ok(Applied::Unchanged { current }) => Some(current),
            Err(error) => self.quarantine(&error),
        }
    }

    fn quarantine<T>(&self, error: &HeaderError) -> Option<T> {
        tracing::warn!(kind = %self.kind, %error, "ignoring an object that cannot be read");
        None
    }
}

impl Sink for Ingest {
    fn list_begins(&mut self, latest: bool) {
        let is_empty = self.shared.state.read().store.len() == 0;
        let past = if latest { Past::Accepted } else { Past::Refused };
        self.list = Some(Listing { past, seen: (!is_empty).then(HashSet::new) });
    }

    fn listed(&mut self, object: &[u8]) {
        let entry = self.apply(object);
        if let Some(seen) = self.list.as_mut().and_then(|list| list.seen.as_mut())
            && let Some(entry) = entry
        {
            seen.insert(entry.key().clone());
        }
    }

    fn list_ends(&mut self, version: u64) {
        let seen = self.list.take().and_then(|list| list.seen);
        let mut state = self.shared.state.write();
        let State { store, subscribers, synced } = &mut *state;
        if let Some(seen) = seen {
            let missed: Vec<_> = store
                .iter(None)
                .map(|entry| entry.key())
                .filter(|key| !seen.contains(*key))
                .cloned()
                .collect();
            for key in missed {
                if let Some(last) = store.remove(&key) {
                    subscribers.deleted(&last, true);
                }
            }
        }
        *synced = true;
        subscribers.synced();
        drop(state);
        tracing::debug!(kind = %self.kind, version, "list complete");
        self.shared.progress.send_modify(|progress| progress.sync(version));
    }

    fn changed(&mut self, object: &[u8]) -> Option<u64> {
        let version = self.apply(object)?.resource_version();
        self.progressed(version);
        Some(version)
    }

    fn deleted(&mut self, object: &[u8]) -> Option<u64> {
        let mut state = self.shared.state.write();
        let State { store, subscribers, .. } = &mut *state;
        let last = match store.entry(object) {
            Ok(last) => last,
            Err(error) => {
                drop(state);
                return self.quarantine(&error);
            }
        };
        // Also told where the store did not have it: the last state names owners who may wait for just this.
        store.remove(last.key());
        subscribers.deleted(&last, false);
        drop(state);
        let version = last.resource_version();
        self.progressed(version);
        Some(version)
    }

    fn progressed(&mut self, version: u64) {
        self.shared.progress.send_modify(|progress| progress.reach(version));
    }

    fn flush(&mut self) {
        self.shared.state.write().subscribers.wake();
    }

    fn failed(&mut self, failure: &Failure, retry_in: Duration) {
        let mut error = error::chain(failure);
        if failure.is_absence() {
            error.push_str("; is it installed?");
        }
        if retry_in.is_zero() {
            tracing::debug!(kind = %self.kind, error, "watch interrupted");
        } else {
            tracing::warn!(kind = %self.kind, error, ?retry_in, "failed to list and watch");
        }
        self.shared.progress.send_modify(|progress| progress.fail(error, failure.is_refusal()));
    }
}

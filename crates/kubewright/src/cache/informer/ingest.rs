//! Takes what the reflector brings into the store, and tells the subscribers.

use std::{sync::Arc, time::Duration};

use hashbrown::{HashMap, HashSet};

use super::{Shared, State};
use crate::{
    cache::{
        reflector::{Failure, Listed, Sink, Verdict},
        store::{Applied, Change, Deletion, HeaderError, Past},
    },
    error,
    object::{Kind, ObjectKey},
};

/// The informer's end of the reflector.
///
/// A list is applied object by object while the store serves reads: what has not changed keeps its entry, so a relist needs memory for
/// what changed and for the keys it saw. What it did not see is removed at its end. What contradicts the store waits for the end, too: only
/// then is it certain that the list is not the older of the two.
pub(super) struct Ingest {
    kind: Kind,
    shared: Arc<Shared>,
    /// Everything up to this version is in the store.
    known: u64,
    list: Option<Listing>,
}

struct Listing {
    past: Past,
    seen: HashSet<ObjectKey>,
    /// The store is empty, and there is nothing that the list could have missed: nobody has to remember what it saw.
    is_first: bool,
    /// Objects whose state is older than what the store knows.
    contradictions: HashMap<ObjectKey, Box<[u8]>>,
}

impl Ingest {
    pub(super) fn new(kind: Kind, shared: Arc<Shared>) -> Self {
        Self { kind, shared, known: 0, list: None }
    }

    fn apply(&self, object: &[u8], past: Past) -> Option<Change> {
        let mut state = self.shared.state.write();
        let State { store, subscribers, .. } = &mut *state;
        match store.apply(object, self.known, past) {
            Ok(change) => {
                match &change.applied {
                    Applied::Added { new } => subscribers.added(new),
                    Applied::Updated { old, new } => subscribers.updated(old, new),
                    Applied::Unchanged { .. } | Applied::Older { .. } => {}
                }
                Some(change)
            }
            Err(error) => {
                drop(state);
                self.quarantine(&error)
            }
        }
    }

    fn quarantine<T>(&self, error: &HeaderError) -> Option<T> {
        tracing::warn!(kind = %self.kind, %error, "ignoring an object that cannot be read");
        None
    }

    /// Removes what a list did not see.
    fn remove_all_but(&self, seen: &HashSet<ObjectKey>) {
        let mut state = self.shared.state.write();
        let State { store, subscribers, .. } = &mut *state;
        let missed: Vec<_> =
            store.iter(None).map(|entry| entry.key()).filter(|key| !seen.contains(*key)).cloned().collect();
        for key in missed {
            if let Some(last) = store.remove(&key) {
                subscribers.deleted(&last, true);
            }
        }
    }
}

impl Listing {
    /// Takes note of what became of a listed object. True if the list had not shown it before.
    fn note(&mut self, object: &[u8], applied: Applied) -> bool {
        let (key, is_added) = match applied {
            Applied::Older { key } => {
                let is_new = self.seen.insert(key.clone());
                self.contradictions.insert(key, object.into());
                return is_new;
            }
            Applied::Added { new } => (new.key().clone(), true),
            Applied::Updated { new, .. } => (new.key().clone(), false),
            Applied::Unchanged { current } => (current.key().clone(), false),
        };
        if self.is_first {
            return is_added;
        }
        self.contradictions.remove(&key);
        self.seen.insert(key)
    }

    fn forget(&mut self, key: &ObjectKey) {
        self.seen.remove(key);
        self.contradictions.remove(key);
    }
}

impl Sink for Ingest {
    fn list_begins(&mut self, past: Past) {
        let is_first = self.shared.state.read().store.len() == 0;
        self.list = Some(Listing { past, is_first, seen: HashSet::new(), contradictions: HashMap::new() });
    }

    fn listed(&mut self, object: &[u8]) -> Option<Listed> {
        let past = self.list.as_ref().map_or(Past::Refused, |list| list.past);
        let Change { version, applied } = self.apply(object, past)?;
        let is_new = self.list.as_mut().is_some_and(|list| list.note(object, applied));
        Some(Listed { version, is_new })
    }

    fn list_ends(&mut self, version: u64, verdict: Verdict) {
        let mut went_back = verdict == Verdict::WentBack;
        if let Some(list) = self.list.take() {
            // It is not older than what it contradicts: the API server has another history by now.
            went_back |= !list.contradictions.is_empty();
            for object in list.contradictions.values() {
                self.apply(object, Past::Accepted);
            }
            if !list.is_first {
                self.remove_all_but(&list.seen);
            }
        }
        if went_back {
            tracing::warn!(kind = %self.kind, version, reached = self.known, "the API server went back in time");
        }
        self.known = version;
        let mut state = self.shared.state.write();
        state.synced = true;
        state.subscribers.synced();
        drop(state);
        tracing::debug!(kind = %self.kind, version, "list complete");
        self.shared.progress.send_modify(|progress| progress.sync(version, went_back));
    }

    fn changed(&mut self, object: &[u8]) -> Option<u64> {
        let version = self.apply(object, Past::Refused)?.version;
        self.progressed(version);
        Some(version)
    }

    fn deleted(&mut self, object: &[u8]) -> Option<u64> {
        let mut state = self.shared.state.write();
        let State { store, subscribers, .. } = &mut *state;
        let (last, deletion) = match store.delete(object, self.known) {
            Ok(deleted) => deleted,
            Err(error) => {
                drop(state);
                return self.quarantine(&error);
            }
        };
        // Also told where the store did not have it: the last state names owners who may wait for just this.
        if matches!(deletion, Deletion::Removed) {
            subscribers.deleted(&last, false);
        }
        drop(state);
        match &mut self.list {
            Some(list) => list.forget(last.key()),
            None => self.progressed(last.resource_version()),
        }
        Some(last.resource_version())
    }

    fn progressed(&mut self, version: u64) {
        self.known = self.known.max(version);
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

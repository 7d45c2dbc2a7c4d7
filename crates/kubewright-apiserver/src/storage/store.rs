//! The versioned map behind a lock, with watchers that can wait.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{
    document::{Document, Draft},
    log::Event,
    state::{Expired, Guard, Key, Mismatch, NotCreated, Prefix, Snapshot, State},
};

/// A handle on the versioned map. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Store(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    state: State,
    /// Wakes who waits for any revision.
    any: watch::Sender<u64>,
    /// Wakes the watchers of a prefix. An entry exists once somebody has watched.
    signals: HashMap<Prefix, watch::Sender<u64>>,
}

impl Store {
    /// An empty store at `revision`, whose prefixes remember `events_per_prefix` events each.
    pub(crate) fn new(events_per_prefix: usize, revision: u64) -> Self {
        let state = State::new(events_per_prefix, revision);
        let any = watch::Sender::new(state.revision());
        Self(Arc::new(Mutex::new(Inner { state, any, signals: HashMap::new() })))
    }

    pub(crate) fn revision(&self) -> u64 {
        self.0.lock().state.revision()
    }

    pub(crate) fn get(&self, prefix: &str, key: &Key) -> Option<Document> {
        self.0.lock().state.get(prefix, key)
    }

    pub(crate) fn snapshot(&self, prefix: &str) -> Snapshot {
        self.0.lock().state.snapshot(prefix)
    }

    pub(crate) fn snapshot_at(&self, prefix: &str, revision: u64) -> Result<Snapshot, Expired> {
        self.0.lock().state.snapshot_at(prefix, revision)
    }

    /// The revision of the newest write under a prefix; 0 when there was none.
    pub(crate) fn last_change(&self, prefix: &str) -> u64 {
        self.0.lock().state.last_change(prefix)
    }

    pub(crate) fn create(
        &self,
        prefix: &Prefix,
        key: &Key,
        draft: &Draft,
        guards: &[Guard],
    ) -> Result<Document, NotCreated> {
        self.write(prefix, |state| state.create(prefix, key, draft, guards))
    }

    pub(crate) fn replace(
        &self,
        prefix: &Prefix,
        key: &Key,
        expected: u64,
        draft: &Draft,
    ) -> Result<Document, Mismatch> {
        self.write(prefix, |state| state.replace(prefix, key, expected, draft))
    }

    pub(crate) fn remove(&self, prefix: &Prefix, key: &Key, expected: u64) -> Result<Document, Mismatch> {
        self.write(prefix, |state| state.remove(prefix, key, expected))
    }

    pub(crate) fn compact(&self) {
        self.0.lock().state.compact();
    }

    /// Watches a prefix for the events after `revision`.
    pub(crate) fn watch(&self, prefix: &Prefix, revision: u64) -> Result<Watcher, Expired> {
        let mut inner = self.0.lock();
        inner.state.check_reachable(prefix, revision)?;
        Ok(inner.watcher(self, prefix, revision))
    }

    /// The objects of a prefix now, and a watcher for everything that comes after.
    pub(crate) fn snapshot_and_watch(&self, prefix: &Prefix) -> (Snapshot, Watcher) {
        let mut inner = self.0.lock();
        let snapshot = inner.state.snapshot(prefix);
        let watcher = inner.watcher(self, prefix, snapshot.revision);
        (snapshot, watcher)
    }

    /// Returns once the store has reached `revision`.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn reached(&self, revision: u64) {
        let mut any = self.0.lock().any.subscribe();
        // The sender lives as long as `self`, so that an error cannot end the wait early.
        let _ = any.wait_for(|current| *current >= revision).await;
    }

    fn write<T>(&self, prefix: &str, change: impl FnOnce(&mut State) -> T) -> T {
        let mut inner = self.0.lock();
        let before = inner.state.revision();
        let result = change(&mut inner.state);
        let after = inner.state.revision();
        if after != before {
            inner.any.send_replace(after);
            if let Some(signal) = inner.signals.get(prefix) {
                signal.send_replace(after);
            }
        }
        result
    }
}

impl Inner {
    fn watcher(&mut self, store: &Store, prefix: &Prefix, cursor: u64) -> Watcher {
        let signal = self.signals.entry(prefix.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe();
        Watcher { store: store.clone(), prefix: prefix.clone(), cursor, signal }
    }
}

/// Reads the log of one prefix at its own pace.
#[derive(Debug)]
pub(crate) struct Watcher {
    store: Store,
    prefix: Prefix,
    cursor: u64,
    signal: watch::Receiver<u64>,
}

impl Watcher {
    /// Up to `limit` events that have not been read; none when the watcher is up to date.
    ///
    /// # Errors
    /// [`Expired`] when the log has moved past the watcher.
    pub(crate) fn read(&mut self, limit: usize) -> Result<Vec<Event>, Expired> {
        // First mark the signal as seen, then look: an event between the two wakes once more than needed.
        self.signal.borrow_and_update();
        let inner = self.store.0.lock();
        let events = inner.state.read(&self.prefix, self.cursor, limit)?;
        // With room left, everything up to the current revision has been seen, also that of other prefixes.
        let seen = if events.len() < limit {
            inner.state.revision()
        } else {
            events.last().map_or(self.cursor, |event| event.revision)
        };
        self.cursor = self.cursor.max(seen);
        Ok(events)
    }

    /// The revision up to which everything has been read.
    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Returns once there may be something to read.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn changed(&mut self) {
        // The sender lives in the store, which the watcher holds.
        let _ = self.signal.changed().await;
    }
}

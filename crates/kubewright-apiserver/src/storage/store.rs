//! The versioned map behind a lock, with watchers that can wait.

use std::{
    collections::{HashMap, VecDeque},
    future::pending,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};

use super::{
    log::Event,
    state::{Expired, Guard, Key, Limits, Mismatch, NotCreated, Prefix, Snapshot, State},
};
use crate::object::{Document, Draft};

/// A handle on the versioned map. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Store(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    state: State,
    age: Age,
    /// Maps of the past that somebody reads page by page, the newest last. Each shares most of its tree.
    kept: VecDeque<(Prefix, Snapshot)>,
    /// Wakes who waits for any revision.
    any: watch::Sender<u64>,
    /// Wakes the watchers of a prefix. An entry exists once somebody has watched.
    signals: HashMap<Prefix, watch::Sender<u64>>,
}

/// Which revision is how old, to the nearest five minutes.
#[derive(Debug)]
struct Age {
    at: Instant,
    revision: u64,
}

impl Age {
    /// Up to which revision the past is too old, if that is known to have moved.
    ///
    /// Source: apiserver `storage/etcd3.compactor`: every five minutes it compacts to where it was the last time.
    fn too_old(&mut self, now: Instant, current: u64) -> Option<u64> {
        let passed = now.saturating_duration_since(self.at);
        if passed < COMPACTION_INTERVAL {
            return None;
        }
        let old = if passed < 2 * COMPACTION_INTERVAL { self.revision } else { current };
        *self = Self { at: now, revision: current };
        Some(old)
    }
}

impl Store {
    /// An empty store at `revision`.
    pub(crate) fn new(limits: Limits, revision: u64) -> Self {
        let state = State::new(limits, revision);
        let age = Age { at: Instant::now(), revision };
        let any = watch::Sender::new(revision);
        let inner = Inner { state, age, kept: VecDeque::new(), any, signals: HashMap::new() };
        Self(Arc::new(Mutex::new(inner)))
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

    /// The objects of a prefix as they were at `revision`.
    pub(crate) fn snapshot_at(&self, prefix: &Prefix, revision: u64) -> Result<Snapshot, Expired> {
        let past = {
            let mut inner = self.0.lock();
            inner.forget_old();
            let past = inner.state.past(prefix, revision)?;
            let kept = |(of, kept): &&(Prefix, Snapshot)| of == prefix && kept.revision == revision;
            if let Some((_, kept)) = inner.kept.iter().find(kept) {
                return Ok(kept.clone());
            }
            past
        };
        let snapshot = past.snapshot();
        self.keep(prefix, &snapshot);
        Ok(snapshot)
    }

    /// Keeps a snapshot that is read page by page, so that the next page finds it.
    pub(crate) fn keep(&self, prefix: &Prefix, snapshot: &Snapshot) {
        let mut inner = self.0.lock();
        inner.kept.retain(|(of, kept)| of != prefix || kept.revision != snapshot.revision);
        if inner.kept.len() == KEPT_SNAPSHOTS {
            inner.kept.pop_front();
        }
        inner.kept.push_back((prefix.clone(), snapshot.clone()));
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
        let mut inner = self.0.lock();
        let gone = inner.state.compact();
        inner.signals.retain(|prefix, _| !gone.contains(prefix));
        inner.kept.clear();
    }

    /// Nobody writes under a prefix any longer: it goes with its last event.
    pub(crate) fn withdraw(&self, prefix: &str) {
        self.0.lock().state.withdraw(prefix);
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
        inner.forget_old();
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
    fn forget_old(&mut self) {
        if let Some(old) = self.age.too_old(Instant::now(), self.state.revision()) {
            let gone = self.state.age(old);
            self.signals.retain(|prefix, _| !gone.contains(prefix));
            self.kept.retain(|(_, kept)| kept.revision >= old);
        }
    }

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
    pub(crate) fn read(&mut self, limit: usize) -> Result<Vec<Arc<Event>>, Expired> {
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
        if self.signal.changed().await.is_err() {
            // The prefix is gone, and whoever watches it is told so elsewhere.
            pending::<()>().await;
        }
    }
}

/// Source: apiserver `--etcd-compaction-interval`.
const COMPACTION_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// How many maps of the past are kept for readers that go page by page.
const KEPT_SNAPSHOTS: usize = 8;

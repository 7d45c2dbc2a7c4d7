//! The versioned map as a plain state machine: no locks, no tasks.

use std::{collections::HashMap, fmt, sync::Arc};

use imbl::OrdMap;
use thiserror::Error;

use super::{
    document::{Document, Draft},
    log::{Change, Event, Log},
};

/// Under which a resource keeps its objects, `group/plural`. Two resources with one prefix share their objects.
pub(crate) type Prefix = Arc<str>;

/// Everything that is stored, at the newest revision, and the logs that lead back.
#[derive(Debug)]
pub(super) struct State {
    revision: u64,
    compacted: u64,
    capacity: usize,
    partitions: HashMap<Prefix, Partition>,
}

#[derive(Debug)]
struct Partition {
    objects: OrdMap<Key, Document>,
    log: Log,
    last_change: u64,
}

impl State {
    /// An empty map at `revision`, before which nothing is known. Each prefix remembers `capacity` events.
    pub(super) fn new(capacity: usize, revision: u64) -> Self {
        Self { revision, compacted: revision, capacity, partitions: HashMap::new() }
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn get(&self, prefix: &str, key: &Key) -> Option<Document> {
        self.partitions.get(prefix)?.objects.get(key).cloned()
    }

    pub(super) fn snapshot(&self, prefix: &str) -> Snapshot {
        let objects = self.partitions.get(prefix).map(|found| found.objects.clone()).unwrap_or_default();
        Snapshot { revision: self.revision, objects }
    }

    /// The map as it was at `revision`: the newest one with the later events undone.
    pub(super) fn snapshot_at(&self, prefix: &str, revision: u64) -> Result<Snapshot, Expired> {
        self.check_reachable(prefix, revision)?;
        let mut objects = self.snapshot(prefix).objects;
        for event in self.events_after(prefix, revision).rev() {
            match &event.change {
                Change::Created { .. } => objects.remove(&event.key),
                Change::Updated { old, .. } | Change::Deleted { old, .. } => {
                    objects.insert(event.key.clone(), old.clone())
                }
            };
        }
        Ok(Snapshot { revision, objects })
    }

    /// The revision of the newest write under a prefix; 0 when there was none.
    pub(super) fn last_change(&self, prefix: &str) -> u64 {
        self.partitions.get(prefix).map_or(0, |found| found.last_change)
    }

    /// Puts an object where none is, provided that the objects of the guards are as they were read.
    pub(super) fn create(
        &mut self,
        prefix: &Prefix,
        key: &Key,
        draft: &Draft,
        guards: &[Guard],
    ) -> Result<Document, NotCreated> {
        if !guards.iter().all(|guard| self.holds(guard)) {
            return Err(NotCreated::Moved);
        }
        if let Some(current) = self.get(prefix, key) {
            return Err(NotCreated::Taken(current));
        }
        let new = draft.at(self.revision + 1);
        self.commit(prefix, key, Some(new.clone()), Change::Created { new: new.clone() });
        Ok(new)
    }

    /// Replaces the object that was read at `expected`. Identical bytes are not written and keep their revision.
    pub(super) fn replace(
        &mut self,
        prefix: &Prefix,
        key: &Key,
        expected: u64,
        draft: &Draft,
    ) -> Result<Document, Mismatch> {
        let old = self.expect(prefix, key, expected)?;
        if draft.at(expected) == old {
            return Ok(old);
        }
        let new = draft.at(self.revision + 1);
        self.commit(prefix, key, Some(new.clone()), Change::Updated { old, new: new.clone() });
        Ok(new)
    }

    /// Removes the object that was read at `expected`; gives it back with the revision of the deletion.
    pub(super) fn remove(&mut self, prefix: &Prefix, key: &Key, expected: u64) -> Result<Document, Mismatch> {
        let old = self.expect(prefix, key, expected)?;
        let gone = old.at(self.revision + 1);
        self.commit(prefix, key, None, Change::Deleted { old, gone: gone.clone() });
        Ok(gone)
    }

    /// Whether a reader may start after `revision`.
    pub(super) fn check_reachable(&self, prefix: &str, revision: u64) -> Result<(), Expired> {
        let oldest = self.compacted.max(self.forgotten(prefix));
        if revision < oldest { Err(Expired { requested: revision, oldest }) } else { Ok(()) }
    }

    /// Up to `limit` events after `cursor`, for a reader that has seen everything up to there.
    pub(super) fn read(&self, prefix: &str, cursor: u64, limit: usize) -> Result<Vec<Event>, Expired> {
        let oldest = self.forgotten(prefix);
        if cursor < oldest {
            return Err(Expired { requested: cursor, oldest });
        }
        Ok(self.events_after(prefix, cursor).take(limit).cloned().collect())
    }

    /// Forgets all events, so that every reader that is not up to date has expired.
    pub(super) fn compact(&mut self) {
        self.compacted = self.revision;
        for partition in self.partitions.values_mut() {
            partition.log.clear();
        }
    }

    fn commit(&mut self, prefix: &Prefix, key: &Key, new: Option<Document>, change: Change) {
        self.revision += 1;
        let capacity = self.capacity;
        let partition = self.partitions.entry(prefix.clone()).or_insert_with(|| Partition {
            objects: OrdMap::new(),
            log: Log::new(capacity, 0),
            last_change: 0,
        });
        partition.last_change = self.revision;
        match new {
            Some(document) => partition.objects.insert(key.clone(), document),
            None => partition.objects.remove(key),
        };
        partition.log.push(Event { revision: self.revision, key: key.clone(), change });
    }

    fn holds(&self, guard: &Guard) -> bool {
        self.get(guard.prefix, &guard.key).is_some_and(|found| found.revision() == guard.revision)
    }

    fn expect(&self, prefix: &str, key: &Key, expected: u64) -> Result<Document, Mismatch> {
        match self.get(prefix, key) {
            Some(current) if current.revision() == expected => Ok(current),
            current => Err(Mismatch { current }),
        }
    }

    fn events_after(&self, prefix: &str, revision: u64) -> impl DoubleEndedIterator<Item = &Event> {
        self.partitions.get(prefix).into_iter().flat_map(move |found| found.log.after(revision))
    }

    fn forgotten(&self, prefix: &str) -> u64 {
        self.partitions.get(prefix).map_or(0, |found| found.log.forgotten())
    }
}

/// Where an object stands under its prefix: `namespace/name`, or `name` for cluster scope.
///
/// One string, because lists are ordered by it: `a-b/x` comes before `a/x`, as in etcd.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(Arc<str>);

impl Key {
    /// The key of an object. An empty namespace means cluster scope.
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() { Self(name.into()) } else { Self(format!("{namespace}/{name}").into()) }
    }

    /// The least key that is not less than `text`.
    pub(crate) fn at_least(text: &str) -> Self {
        Self(text.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The objects of one prefix at one revision. A clone shares the tree.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) revision: u64,
    pub(crate) objects: OrdMap<Key, Document>,
}

impl Snapshot {
    /// The objects of a namespace (all when empty) from the key `start` on, in order.
    pub(crate) fn range<'a>(
        &'a self,
        namespace: &str,
        start: &str,
    ) -> impl Iterator<Item = (&'a Key, &'a Document)> + 'a {
        let within = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        let first = Key::at_least(if start > within.as_str() { start } else { &within });
        self.objects.range(first..).take_while(move |(key, _)| key.as_str().starts_with(&within))
    }
}

/// What a write depends on besides its own object: the object at `key` is still the one that was read.
///
/// It closes the gap between a look at a namespace or a definition and the commit of what goes into it.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    pub(crate) prefix: &'static str,
    pub(crate) key: Key,
    pub(crate) revision: u64,
}

/// Why an object was not put in place.
#[derive(Debug, Error)]
pub(crate) enum NotCreated {
    /// There is one of the same key.
    #[error("the object is there already")]
    Taken(Document),
    /// What a guard names has changed, or is gone. The writer has to look again.
    #[error("what the object depends on has changed since it was read")]
    Moved,
}

/// The object is not as the writer has read it.
#[derive(Debug, Error)]
#[error("the object has changed since it was read")]
pub(crate) struct Mismatch {
    /// What is there now.
    pub(crate) current: Option<Document>,
}

/// The events after the requested revision are no longer known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("too old resource version: {requested} ({oldest})")]
pub(crate) struct Expired {
    pub(crate) requested: u64,
    pub(crate) oldest: u64,
}

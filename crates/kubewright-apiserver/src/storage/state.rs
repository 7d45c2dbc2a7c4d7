//! The versioned map as a plain state machine: no locks, no tasks.

use std::{collections::HashMap, fmt, sync::Arc};

use imbl::OrdMap;
use thiserror::Error;

use super::log::{Change, Event, Log};
use crate::object::{Document, Draft};

/// Under which a resource keeps its objects, `group/plural`. Two resources with one prefix share their objects.
pub(crate) type Prefix = Arc<str>;

/// Everything that is stored, at the newest revision, and the logs that lead back.
#[derive(Debug)]
pub(super) struct State {
    revision: u64,
    limits: Limits,
    /// Nothing is known of the revisions before this one.
    compacted: u64,
    /// The map is not read as it was before this revision. Watches of what was quiet since may still begin there.
    aged: u64,
    partitions: HashMap<Prefix, Partition>,
    /// The newest revisions of partitions that are gone: a watch from before them has missed something.
    gone: HashMap<Prefix, u64>,
    /// How many bytes all logs keep.
    log_bytes: usize,
}

/// How much of the past is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How many events each prefix remembers.
    pub(crate) events_per_prefix: usize,
    /// How many bytes are kept for the sake of the past, over all prefixes.
    pub(crate) log_bytes: usize,
}

#[derive(Debug)]
struct Partition {
    objects: OrdMap<Key, Document>,
    log: Log,
    last_change: u64,
    /// Whether nobody is expected to write here again.
    withdrawn: bool,
}

impl State {
    /// An empty map at `revision`, before which nothing is known.
    pub(super) fn new(limits: Limits, revision: u64) -> Self {
        Self {
            revision,
            limits,
            compacted: revision,
            aged: 0,
            partitions: HashMap::new(),
            gone: HashMap::new(),
            log_bytes: 0,
        }
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

    /// What it takes to make the map as it was at `revision`. Cheap: tree and log are shared.
    pub(super) fn past(&self, prefix: &str, revision: u64) -> Result<Past, Expired> {
        self.check_reachable(prefix, revision)?;
        if revision < self.aged {
            return Err(Expired { requested: revision, oldest: self.aged });
        }
        let newest = self.snapshot(prefix);
        let log = self.partitions.get(prefix).map_or_else(|| Log::new(0), |found| found.log.clone());
        Ok(Past { newest, log, revision })
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
        self.commit(prefix, key, None, Change::Deleted { old });
        Ok(gone)
    }

    /// Whether a reader may start after `revision`.
    pub(super) fn check_reachable(&self, prefix: &str, revision: u64) -> Result<(), Expired> {
        let oldest = self.compacted.max(self.forgotten(prefix));
        if revision < oldest { Err(Expired { requested: revision, oldest }) } else { Ok(()) }
    }

    /// Up to `limit` events after `cursor`, for a reader that has seen everything up to there.
    pub(super) fn read(&self, prefix: &str, cursor: u64, limit: usize) -> Result<Vec<Arc<Event>>, Expired> {
        let oldest = self.forgotten(prefix);
        if cursor < oldest {
            return Err(Expired { requested: cursor, oldest });
        }
        Ok(self.partitions.get(prefix).map(|found| found.log.after(cursor, limit)).unwrap_or_default())
    }

    /// Forgets all events, so that every reader that is not up to date has expired.
    pub(super) fn compact(&mut self) -> Vec<Prefix> {
        self.compacted = self.revision;
        self.age(self.revision)
    }

    /// Forgets the events up to `revision`, because they are old. Gives back the prefixes that are gone with them.
    pub(super) fn age(&mut self, revision: u64) -> Vec<Prefix> {
        self.aged = self.aged.max(revision);
        for partition in self.partitions.values_mut() {
            let before = partition.log.bytes();
            partition.log.forget_until(revision);
            self.log_bytes -= before - partition.log.bytes();
        }
        let is_gone = |found: &Partition| found.withdrawn && found.objects.is_empty() && found.log.len() == 0;
        let gone = self.partitions.extract_if(|_, found| is_gone(found));
        let gone: HashMap<Prefix, u64> = gone.map(|(name, found)| (name, found.last_change)).collect();
        let names = gone.keys().cloned().collect();
        self.gone.extend(gone);
        names
    }

    /// Nobody writes under a prefix any longer. It goes when nothing is stored there, with its last event: watchers
    /// are still to hear of that.
    pub(super) fn withdraw(&mut self, prefix: &str) {
        if let Some(partition) = self.partitions.get_mut(prefix) {
            partition.withdrawn = true;
        }
    }

    /// How many prefixes have something stored, or to tell.
    #[cfg(test)]
    pub(super) fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// How many bytes are kept for the sake of the past.
    #[cfg(test)]
    pub(super) fn log_bytes(&self) -> usize {
        self.log_bytes
    }

    fn commit(&mut self, prefix: &Prefix, key: &Key, new: Option<Document>, change: Change) {
        self.revision += 1;
        let gone = &mut self.gone;
        let partition = self.partitions.entry(prefix.clone()).or_insert_with(|| Partition {
            objects: OrdMap::new(),
            log: Log::new(gone.remove(prefix).unwrap_or_default()),
            last_change: 0,
            withdrawn: false,
        });
        partition.last_change = self.revision;
        partition.withdrawn &= new.is_none();
        match new {
            Some(document) => partition.objects.insert(key.clone(), document),
            None => partition.objects.remove(key),
        };
        let before = partition.log.bytes();
        partition.log.push(Event { revision: self.revision, key: key.clone(), change });
        if partition.log.len() > self.limits.events_per_prefix {
            partition.log.forget_first();
        }
        self.log_bytes = self.log_bytes - before + partition.log.bytes();
        while self.log_bytes > self.limits.log_bytes && self.forget_oldest() {}
    }

    /// Forgets the oldest event of all. False when there is none.
    fn forget_oldest(&mut self) -> bool {
        let oldest = self.partitions.values_mut().min_by_key(|found| found.log.oldest().unwrap_or(u64::MAX));
        let Some(partition) = oldest.filter(|found| found.log.len() > 0) else { return false };
        let before = partition.log.bytes();
        partition.log.forget_first();
        self.log_bytes -= before - partition.log.bytes();
        true
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

    fn forgotten(&self, prefix: &str) -> u64 {
        let gone = || self.gone.get(prefix).copied().unwrap_or_default();
        self.partitions.get(prefix).map_or_else(gone, |found| found.log.forgotten())
    }
}

/// The newest map, and the log that leads back to an older one.
#[derive(Debug)]
pub(super) struct Past {
    newest: Snapshot,
    log: Log,
    revision: u64,
}

impl Past {
    /// The map as it was: the newest one with the later events undone. Takes its time, and needs no lock.
    pub(super) fn snapshot(self) -> Snapshot {
        let mut objects = self.newest.objects;
        for event in self.log.back_to(self.revision) {
            match &event.change {
                Change::Created { .. } => objects.remove(&event.key),
                Change::Updated { old, .. } | Change::Deleted { old } => {
                    objects.insert(event.key.clone(), old.clone())
                }
            };
        }
        Snapshot { revision: self.revision, objects }
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

    /// The part after the namespace.
    pub(crate) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
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

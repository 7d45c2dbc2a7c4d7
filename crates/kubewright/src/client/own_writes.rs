//! What a client has written and the cache may not have seen yet.

use std::{collections::HashMap, time::Duration};

use kube::Resource;
use parking_lot::Mutex;
use tokio::time::timeout;

use super::ClientError;
use crate::{
    cache::{
        Cache, CacheError,
        informer::{Informer, Progress},
    },
    object::{Kind, ObjectKey},
};

/// The last own write of each key, by kind. What the cache has seen is forgotten in sweeps.
#[derive(Debug, Default)]
pub(super) struct OwnWrites {
    by_kind: Mutex<HashMap<WrittenKind, Writes>>,
}

/// Group and plural: however an object is read, in another version or as metadata, it is the same object.
type WrittenKind = (String, String);

#[derive(Debug, Default)]
struct Writes {
    by_key: HashMap<ObjectKey, Write>,
    sweep_at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Write {
    /// The API server stored this version.
    Stored(u64),
    /// The API server removed the object that had this uid.
    Removed(String),
}

impl OwnWrites {
    /// Remembers that the API server has stored `object`.
    pub(super) fn stored<K: Resource>(&self, cache: &Cache, kind: &Kind, object: &K) {
        if let Some(version) =
            object.meta().resource_version.as_ref().and_then(|version| version.parse().ok())
        {
            self.note(cache, kind, ObjectKey::of(object), Write::Stored(version));
        }
    }

    /// Remembers that the API server has removed the object with `uid`.
    pub(super) fn removed(&self, cache: &Cache, kind: &Kind, key: ObjectKey, uid: String) {
        self.note(cache, kind, key, Write::Removed(uid));
    }

    fn note(&self, cache: &Cache, kind: &Kind, key: ObjectKey, write: Write) {
        // An informer that does not exist yet will list what is there then, this write included.
        let forms: Vec<_> = kind.forms().iter().filter_map(|kind| cache.existing_informer(kind)).collect();
        if forms.is_empty() {
            return;
        }
        let mut by_kind = self.by_kind.lock();
        let writes = by_kind.entry(written_kind(kind)).or_default();
        if writes.by_key.len() >= writes.sweep_at {
            // Writes of objects that nobody reads again would stay for ever.
            writes.by_key.retain(|key, write| {
                !forms.iter().all(|informer| write.is_seen(&informer.progress(), informer, key))
            });
            writes.sweep_at = FIRST_SWEEP.max(writes.by_key.len() * 2);
        }
        writes.by_key.insert(key, write);
    }

    /// The version that the last own write of `key` made, if it is remembered.
    pub(super) fn version(&self, kind: &Kind, key: &ObjectKey) -> Option<u64> {
        match self.by_kind.lock().get(&written_kind(kind))?.by_key.get(key)? {
            Write::Stored(version) => Some(*version),
            Write::Removed(_) => None,
        }
    }

    /// Waits until `informer` has seen the last own write of `key`.
    pub(super) async fn wait_for(&self, informer: &Informer, key: &ObjectKey) -> Result<(), ClientError> {
        let write = {
            let by_kind = self.by_kind.lock();
            by_kind.get(&written_kind(informer.kind())).and_then(|writes| writes.by_key.get(key).cloned())
        };
        match write {
            Some(write) => write.wait(informer, key).await,
            None => Ok(()),
        }
    }

    /// Waits until `informer` has seen every own write of its kind.
    pub(super) async fn wait_for_all(&self, informer: &Informer) -> Result<(), ClientError> {
        let unseen: Vec<_> = {
            let by_kind = self.by_kind.lock();
            let Some(writes) = by_kind.get(&written_kind(informer.kind())) else { return Ok(()) };
            let progress = informer.progress();
            let unseen = writes.by_key.iter().filter(|(key, write)| !write.is_seen(&progress, informer, key));
            unseen.map(|(key, write)| (key.clone(), write.clone())).collect()
        };
        for (key, write) in unseen {
            write.wait(informer, &key).await?;
        }
        Ok(())
    }
}

impl Write {
    fn is_seen(&self, progress: &Progress, informer: &Informer, key: &ObjectKey) -> bool {
        match self {
            Self::Stored(version) => progress.version >= *version,
            Self::Removed(uid) => informer.get(key).is_none_or(|entry| !entry.is_same_object(uid)),
        }
    }

    async fn wait(&self, informer: &Informer, key: &ObjectKey) -> Result<(), ClientError> {
        let seen = informer.wait_until(|progress| self.is_seen(progress, informer, key));
        match timeout(LONGEST_WAIT, seen).await {
            Ok(result) => result.map_err(|_| CacheError::Stopped.into()),
            Err(_) => Err(ClientError::NotYetObserved {
                kind: informer.kind().clone(),
                key: key.clone(),
                waited: LONGEST_WAIT,
            }),
        }
    }
}

fn written_kind(kind: &Kind) -> WrittenKind {
    (kind.group().to_owned(), kind.plural().to_owned())
}

/// A watch is usually milliseconds behind. One that is this far behind is broken, and a reconcile that fails is retried with backoff.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const FIRST_SWEEP: usize = 1024;

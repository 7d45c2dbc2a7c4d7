//! What a client has written and the cache may not have seen yet.

mod doubt;
mod write;

use std::{sync::Arc, time::Duration};

use hashbrown::{HashMap, hash_map};
use parking_lot::Mutex;
use tokio::time::timeout;

pub(super) use self::{
    doubt::Doubt,
    write::{Write, key_of_answer},
};
use super::ClientError;
use crate::{
    cache::{Cache, CacheError, informer::Informer},
    object::{Kind, ObjectKey},
};

/// The last own write of each key, by kind. What the cache has seen is forgotten in sweeps.
#[derive(Debug, Default)]
pub(super) struct OwnWrites {
    // A client writes a handful of kinds: looking through them is quicker than hashing their names.
    by_kind: Mutex<Vec<(Kind, Writes)>>,
}

/// The writes of one kind. However an object is read, in another version or as metadata, it is the same object.
#[derive(Debug, Default)]
struct Writes {
    by_key: HashMap<ObjectKey, Write>,
    sweep_at: usize,
    doubts: u64,
    /// How often the API server had gone back when an informer was last looked at.
    restores: Vec<(Kind, u64)>,
}

impl OwnWrites {
    /// Remembers what an answer has said of `key`.
    pub(super) fn note(&self, cache: &Cache, kind: &Kind, key: ObjectKey, write: Write) {
        // An informer that does not exist yet will list what is there then, this write included.
        let informers = cache.informers_of(kind);
        if informers.is_empty() {
            return;
        }
        self.with(kind, |writes| {
            writes.sweep(&informers);
            match writes.by_key.entry(key) {
                hash_map::Entry::Occupied(mut known) => known.get_mut().follow(write),
                hash_map::Entry::Vacant(free) => {
                    if informers.iter().any(|informer| hears_of(informer, free.key())) {
                        free.insert(write);
                    }
                }
            }
        });
    }

    /// Remembers that nobody knows what has become of a write.
    fn doubt(&self, cache: &Cache, kind: &Kind, key: ObjectKey) {
        let doubt = self.with(kind, |writes| writes.next_doubt());
        self.note(cache, kind, key, Write::unknown(doubt));
    }

    /// The version that the last own write of `key` made, if it is remembered.
    pub(super) fn version(&self, kind: &Kind, key: &ObjectKey) -> Option<u64> {
        self.find(kind, key).map(|write| write.version())
    }

    /// Waits until `informer` has seen the last own write of `key`.
    ///
    /// A write whose answer was lost is asked for first, past the cache.
    pub(super) async fn wait_for(
        &self,
        kube: &kube::Client,
        informer: &Informer,
        key: &ObjectKey,
    ) -> Result<(), ClientError> {
        let key = informer.kind().key(key);
        // The object may be one whose name nobody has learnt.
        for key in [doubt::nameless(&key), key] {
            if self.find(informer.kind(), &key).is_some() {
                // Most reads find nothing: they do not carry this future about.
                Box::pin(self.see(kube, informer, &key)).await?;
            }
        }
        Ok(())
    }

    /// Waits until `informer` has seen every own write of its kind.
    pub(super) async fn wait_for_all(
        &self,
        kube: &kube::Client,
        informer: &Informer,
    ) -> Result<(), ClientError> {
        let progress = informer.progress();
        let unseen: Vec<_> = self.with(informer.kind(), |writes| {
            let unseen = writes.by_key.iter().filter(|(key, write)| !write.is_seen(&progress, informer, key));
            unseen.map(|(key, _)| key.clone()).collect()
        });
        for key in unseen {
            Box::pin(self.see(kube, informer, &key)).await?;
        }
        Ok(())
    }

    async fn see(
        &self,
        kube: &kube::Client,
        informer: &Informer,
        key: &ObjectKey,
    ) -> Result<(), ClientError> {
        loop {
            let restores = informer.progress().restores;
            self.with(informer.kind(), |writes| writes.heed_restores(informer.kind(), restores));
            let Some(write) = self.find(informer.kind(), key).filter(|_| hears_of(informer, key)) else {
                return Ok(());
            };
            let Some(doubt) = write.doubt() else {
                match self.wait(informer, key, &write, restores).await? {
                    Seen::Write => return Ok(()),
                    Seen::Restore => continue,
                }
            };
            let found = doubt::ask(kube, informer.kind(), key).await?;
            self.with(informer.kind(), |writes| writes.resolve(key, doubt, found, informer));
        }
    }

    /// Waits until `informer` sees the write, or sees that the API server has gone back since it did `restores` times.
    async fn wait(
        &self,
        informer: &Informer,
        key: &ObjectKey,
        write: &Write,
        restores: u64,
    ) -> Result<Seen, ClientError> {
        let mut what = Seen::Write;
        let seen = informer.wait_until(|progress| {
            what = if progress.restores == restores { Seen::Write } else { Seen::Restore };
            what == Seen::Restore || write.is_seen(progress, informer, key)
        });
        if let Ok(result) = timeout(LONGEST_WAIT, seen).await {
            return result.map(|()| what).map_err(|_| CacheError::Stopped.into());
        }
        // The watch may be slow, or the write undone by a restore that the watch has not noticed: the next read asks.
        self.with(informer.kind(), |writes| writes.distrust(key, write));
        Err(ClientError::NotYetObserved {
            kind: informer.kind().clone(),
            key: key.clone(),
            waited: LONGEST_WAIT,
        })
    }

    fn find(&self, kind: &Kind, key: &ObjectKey) -> Option<Write> {
        let by_kind = self.by_kind.lock();
        let (_, writes) = by_kind.iter().find(|(other, _)| other.is_same_resource(kind))?;
        writes.by_key.get(key).cloned()
    }

    fn with<T>(&self, kind: &Kind, act: impl FnOnce(&mut Writes) -> T) -> T {
        let mut by_kind = self.by_kind.lock();
        let index = by_kind.iter().position(|(other, _)| other.is_same_resource(kind)).unwrap_or_else(|| {
            by_kind.push((kind.clone(), Writes::default()));
            by_kind.len() - 1
        });
        act(&mut by_kind[index].1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Write,
    Restore,
}

impl Writes {
    /// What was written before the API server went back, as after a restore from a backup, may not exist any more: it is asked for again.
    fn heed_restores(&mut self, informer: &Kind, restores: u64) {
        let known = self.restores.iter_mut().find(|(kind, _)| kind == informer);
        let before = if let Some((_, known)) = known {
            std::mem::replace(known, restores)
        } else {
            self.restores.push((informer.clone(), restores));
            0
        };
        if before != restores {
            let doubt = self.next_doubt();
            for write in self.by_key.values_mut().filter(|write| write.doubt().is_none()) {
                *write = write.distrusted(doubt);
            }
        }
    }

    /// Writes of objects that nobody reads again would stay for ever.
    fn sweep(&mut self, informers: &[Arc<Informer>]) {
        if self.by_key.len() < self.sweep_at {
            return;
        }
        let progress: Vec<_> = informers.iter().map(|informer| (informer, informer.progress())).collect();
        self.by_key.retain(|key, write| {
            !progress.iter().all(|(informer, progress)| write.is_seen(progress, informer, key))
        });
        self.sweep_at = FIRST_SWEEP.max(self.by_key.len() * 2);
    }

    fn next_doubt(&mut self) -> u64 {
        self.doubts += 1;
        self.doubts
    }

    fn distrust(&mut self, key: &ObjectKey, write: &Write) {
        let doubt = self.next_doubt();
        if let Some(known) = self.by_key.get_mut(key)
            && known == write
        {
            *known = write.distrusted(doubt);
        }
    }

    /// Takes what the API server said when it was asked, unless there is news of another write by now.
    fn resolve(&mut self, key: &ObjectKey, doubt: u64, found: Option<Write>, informer: &Informer) {
        let Some(known) = self.by_key.get_mut(key).filter(|known| known.doubt() == Some(doubt)) else {
            return;
        };
        match found.or_else(|| informer.look(key, |entry| known.removed(entry))) {
            Some(write) => *known = write,
            // Neither the API server nor the cache has it: the write came to nothing.
            None => {
                self.by_key.remove(key);
            }
        }
    }
}

/// Whether `informer` will hear of a write of `key`. What a selector hides from it now may come into view by the write; that is not waited for.
fn hears_of(informer: &Informer, key: &ObjectKey) -> bool {
    let target = informer.target();
    let of_namespace = |namespace: &str| key.namespace() == Some(namespace);
    let selects_all = target.label_selector.is_none() && target.field_selector.is_none();
    target.namespace.as_deref().is_none_or(of_namespace)
        && (selects_all || informer.look(key, |entry| entry.is_some()))
}

/// A watch is usually milliseconds behind. One that is this far behind is broken, and a reconcile that fails is retried with backoff.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const FIRST_SWEEP: usize = 1024;

#[cfg(test)]
mod tests;

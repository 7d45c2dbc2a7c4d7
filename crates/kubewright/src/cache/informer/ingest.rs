//! Takes what the reflector brings into the store, and tells the subscribers.

use std::{sync::Arc, time::Duration};

use hashbrown::{HashMap, HashSet};

use super::{Contents, Published, quarantine::Quarantine};
use crate::{
    cache::{
        ListWatchError,
        reflector::{Failure, Listed, Sink, Verdict},
        store::{Applied, Change, Deletion, Past},
    },
    error,
    object::{Kind, ObjectKey},
};

/// The informer's end of the reflector.
///
/// A list is applied object by object while the store serves reads: what has not changed keeps its entry, so a relist needs memory for
/// what changed and for the keys it saw. What it did not see is removed at its end. What contradicts the store waits for the end, too: only
/// then is it certain that the list is not the older of the two.
///
/// An object whose header cannot be read keeps its last state, whether a list or a watch brings it: it exists, and nobody knows more.
///
/// Entries that leave the store are dropped after its lock: they may hold the last decoded value of an author's type, whose `Drop` may read
/// the cache.
pub(super) struct Ingest {
    kind: Kind,
    published: Arc<Published>,
    /// Everything up to this version is in the store.
    known: u64,
    list: Option<Listing>,
    quarantine: Quarantine,
}

struct Listing {
    past: Past,
    seen: HashSet<ObjectKey>,
    /// It has shown an object whose name cannot be read: any that is missing may be that one.
    has_nameless: bool,
    /// The store is empty, and there is nothing that the list could have missed: nobody has to remember what it saw.
    is_first: bool,
    /// Objects whose state is older than what the store knows.
    contradictions: HashMap<ObjectKey, Box<[u8]>>,
}

impl Ingest {
    pub(super) fn new(kind: Kind, published: Arc<Published>) -> Self {
        let quarantine = Quarantine::new(kind.clone(), published.unreadable.clone());
        Self { kind, published, known: 0, list: None, quarantine }
    }

    fn apply(&mut self, object: &[u8], past: Past) -> Option<Change> {
        let mut contents = self.published.contents.write();
        let Contents { store, subscribers, .. } = &mut *contents;
        let result = store.apply(object, self.known, past);
        match result.as_ref().map(|change| &change.applied) {
            Ok(Applied::Added { new }) => subscribers.added(new),
            Ok(Applied::Updated { old, new }) => subscribers.updated(old, new),
            Ok(Applied::Unchanged { .. } | Applied::Older { .. }) | Err(_) => {}
        }
        drop(contents);
        match result {
            Ok(change) => {
                self.quarantine.leave(change.applied.key());
                Some(change)
            }
            Err(error) => {
                let key = self.quarantine.enter(object, &error);
                if let Some(list) = &mut self.list {
                    list.keep(key);
                }
                None
            }
        }
    }

    /// Removes what a list did not see.
    fn remove_all_but(&mut self, seen: &HashSet<ObjectKey>) {
        let mut contents = self.published.contents.write();
        let Contents { store, subscribers, .. } = &mut *contents;
        let missed: Vec<_> =
            store.iter(None).filter(|entry| !seen.contains(entry.key())).map(Arc::clone).collect();
        for last in &missed {
            store.remove(last.key());
            subscribers.deleted(last, true);
        }
        drop(contents);
        for last in &missed {
            self.quarantine.leave(last.key());
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

    /// An object of the list cannot be read: what is known of it stays.
    fn keep(&mut self, key: Option<ObjectKey>) {
        match key {
            Some(key) => {
                self.seen.insert(key);
            }
            None => self.has_nameless = true,
        }
    }

    fn forget(&mut self, key: &ObjectKey) {
        self.seen.remove(key);
        self.contradictions.remove(key);
    }
}

impl Sink for Ingest {
    fn list_begins(&mut self, past: Past) {
        let is_first = self.published.contents.read().store.len() == 0;
        self.list = Some(Listing {
            past,
            seen: HashSet::new(),
            has_nameless: false,
            is_first,
            contradictions: HashMap::new(),
        });
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
            if !list.is_first && !list.has_nameless {
                self.remove_all_but(&list.seen);
            }
        }
        if went_back {
            tracing::warn!(kind = %self.kind, version, reached = self.known, "the API server went back in time");
        }
        self.known = version;
        let mut contents = self.published.contents.write();
        contents.synced = true;
        contents.subscribers.synced();
        drop(contents);
        tracing::debug!(kind = %self.kind, version, "list complete");
        self.published.progress.send_modify(|progress| progress.sync(version, went_back));
    }

    fn changed(&mut self, object: &[u8]) -> Option<u64> {
        let version = self.apply(object, Past::Refused)?.version;
        self.progressed(version);
        Some(version)
    }

    fn deleted(&mut self, object: &[u8]) -> Option<u64> {
        let mut contents = self.published.contents.write();
        let Contents { store, subscribers, .. } = &mut *contents;
        let result = store.delete(object, self.known);
        // Also told where the store did not have it: the last state names owners who may wait for just this.
        if let Ok((last, Deletion::Removed { .. })) = &result {
            subscribers.deleted(last, false);
        }
        drop(contents);
        let last = match result {
            Ok((last, _)) => last,
            Err(error) => {
                self.quarantine.enter(object, &error);
                return None;
            }
        };
        self.quarantine.leave(last.key());
        match &mut self.list {
            Some(list) => list.forget(last.key()),
            None => self.progressed(last.resource_version()),
        }
        Some(last.resource_version())
    }

    fn progressed(&mut self, version: u64) {
        self.known = self.known.max(version);
        self.published.progress.send_modify(|progress| progress.reach(version));
    }

    fn flush(&mut self) {
        let long = self.published.contents.write().subscribers.wake();
        for inbox in long {
            inbox.merge();
        }
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
        let error = ListWatchError::new(error, failure.code());
        self.published.progress.send_modify(|progress| progress.fail(error, failure.is_refusal()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use futures::FutureExt;
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::{
        cache::{
            informer::{Delta, Informer, Subscription},
            reflector::Target,
            store::Store,
        },
        event::Observed,
        metrics::Registry,
    };

    /// An informer whose reflector is the test.
    struct World {
        registry: Registry,
        informer: Informer,
        ingest: Ingest,
        subscription: Subscription,
    }

    impl World {
        /// `decoded_bytes` is the informer's budget; the objects `a` and `b` are there at version 1.
        fn new(decoded_bytes: usize) -> Self {
            let kind = Kind::of::<ConfigMap>();
            let target =
                Target { kind: kind.clone(), namespace: None, label_selector: None, field_selector: None };
            let registry = Registry::new();
            let informer = Informer::new(target, Store::new(decoded_bytes, false), &registry);
            let ingest = Ingest::new(kind, Arc::clone(&informer.published));
            let subscription = informer.subscribe();
            let mut world = Self { registry, informer, ingest, subscription };
            world.list(1, &[object("a", "1"), object("b", "1")]);
            world.deleted();
            world
        }

        fn list(&mut self, version: u64, objects: &[String]) {
            self.ingest.list_begins(Past::Refused);
            for object in objects {
                self.ingest.listed(object.as_bytes());
            }
            self.ingest.list_ends(version, Verdict::Newer);
        }

        /// Whose deletions the subscriber has heard of since the last call.
        fn deleted(&mut self) -> Vec<String> {
            let mut deleted = Vec::new();
            while let Some(Some(delta)) = self.subscription.next().now_or_never() {
                if let Delta::Deleted { last, .. } = delta {
                    deleted.push(last.key().name().to_owned());
                }
            }
            deleted
        }

        fn names(&self) -> Vec<String> {
            let entries = self.informer.list(None, |_| true);
            let mut names: Vec<_> = entries.iter().map(|entry| entry.key().name().to_owned()).collect();
            names.sort();
            names
        }

        fn unreadable(&self) -> u64 {
            self.informer.published.unreadable.get()
        }
    }

    fn object(name: &str, version: &str) -> String {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop","resourceVersion":"{version}"}}}}"#)
    }

    #[test]
    fn an_object_whose_header_cannot_be_read_keeps_its_last_state_in_a_watch_and_in_a_list() {
        let mut world = World::new(0);
        assert_eq!(world.ingest.changed(object("a", "x").as_bytes()), None);
        assert_eq!((world.names().join(" "), world.deleted().len()), ("a b".to_owned(), 0));
        world.list(3, &[object("a", "x"), object("b", "1")]);
        assert_eq!((world.names().join(" "), world.deleted().len()), ("a b".to_owned(), 0));
        world.list(4, &[object("b", "1")]);
        assert_eq!((world.names().join(" "), world.deleted().join(" ")), ("b".to_owned(), "a".to_owned()));
    }

    #[test]
    fn metadata_is_decoded_once_for_each_change_whoever_asks() {
        let hear = |subscription: &mut Subscription| match subscription.next().now_or_never() {
            Some(Some(Delta::Updated { old, new })) => [old, new].map(Observed::<ConfigMap>::cached),
            other => panic!("{other:?}"),
        };
        let mut world = World::new(0);
        let mut late = world.informer.subscribe();
        while !matches!(late.next().now_or_never(), Some(Some(Delta::Synced))) {}
        world.ingest.changed(object("a", "2").as_bytes());
        let (first, second) = (hear(&mut world.subscription), hear(&mut late));
        assert_eq!(first[1].metadata().resource_version.as_deref(), Some("2"));
        for (first, second) in first.iter().zip(&second) {
            assert!(std::ptr::eq(first.metadata(), second.metadata()));
            assert!(std::ptr::eq(first.metadata(), first.any().metadata()));
        }
    }

    #[test]
    fn who_is_a_minute_behind_ten_thousand_changes_holds_a_tenth_of_their_states() {
        let mut world = World::new(0);
        let mut states = Vec::new();
        for version in 2..10_002 {
            let name = format!("o{}", version % 10);
            world.ingest.changed(object(&name, &version.to_string()).as_bytes());
            let state = world.informer.get(&ObjectKey::new("shop", name)).unwrap();
            states.push(Arc::downgrade(&state));
            if version % 10 == 0 {
                world.ingest.flush();
            }
        }
        let live = states.iter().filter(|state| state.strong_count() > 0).count();
        assert!(live < 1_100, "{live} of {} states are alive", states.len());
        let mut heard = BTreeMap::new();
        while let Some(Some(delta)) = world.subscription.next().now_or_never() {
            let (Delta::Added { new, .. } | Delta::Updated { new, .. }) = delta else { continue };
            heard.insert(new.key().clone(), new.resource_version());
        }
        let current = world.informer.list(None, |entry| entry.key().name().starts_with('o'));
        let current = current.iter().map(|entry| (entry.key().clone(), entry.resource_version()));
        assert_eq!(heard, current.collect());
    }

    #[test]
    fn a_list_with_an_object_that_has_no_name_removes_nothing() {
        let mut world = World::new(0);
        world.list(3, &[object("", "2")]);
        assert_eq!((world.names().join(" "), world.deleted().len()), ("a b".to_owned(), 0));
        world.list(4, &[]);
        assert_eq!((world.names().len(), world.deleted().len()), (0, 2));
    }

    #[test]
    fn a_state_that_cannot_be_read_is_counted_once_however_often_it_comes() {
        let mut world = World::new(0);
        for version in 2..5 {
            world.list(version, &[object("a", "x"), object("b", "1")]);
            world.ingest.changed(object("a", "x").as_bytes());
        }
        assert_eq!(world.unreadable(), 1);
        world.ingest.changed(object("a", "y").as_bytes());
        assert_eq!(world.unreadable(), 2);
        world.ingest.changed(object("a", "9").as_bytes());
        world.ingest.changed(object("a", "y").as_bytes());
        assert_eq!(world.unreadable(), 3, "it had been readable in between");
        let line = r#"kubewright_cache_unreadable_objects_total{api_version="v1",kind="ConfigMap"} 3"#;
        assert!(world.registry.text().contains(line), "{}", world.registry.text());
    }

    #[test]
    fn a_state_that_does_not_decode_is_counted_once_however_often_it_is_listed() {
        #[derive(serde::Deserialize)]
        struct WithData {
            #[serde(rename = "data")]
            _data: String,
        }
        let mut world = World::new(0);
        let list = |world: &World| {
            crate::cache::reader::read_list::<WithData>(
                &world.informer,
                &crate::cache::ListOptions::default(),
            )
        };
        for _ in 0..3 {
            assert!(list(&world).is_empty());
        }
        assert_eq!(world.unreadable(), 2, "`a` and `b`");
        world.ingest.changed(object("a", "2").as_bytes());
        assert!(list(&world).is_empty());
        assert_eq!(world.unreadable(), 3);
    }

    thread_local! {
        /// What a `Nosy` looks at when it is dropped.
        static LOOKED_AT: std::cell::RefCell<Option<Arc<Published>>> = const { std::cell::RefCell::new(None) };
        static LOOKS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    }

    /// An author's type whose `Drop` reads the cache.
    #[derive(serde::Deserialize)]
    struct Nosy {}

    impl Drop for Nosy {
        fn drop(&mut self) {
            LOOKED_AT.with_borrow(|published| {
                assert!(published.as_ref().unwrap().contents.try_read().is_some(), "it would wait for ever");
            });
            LOOKS.set(LOOKS.get() + 1);
        }
    }

    #[test]
    fn an_authors_drop_may_read_the_cache() {
        let mut world = World::new(1 << 20);
        LOOKED_AT.set(Some(Arc::clone(&world.informer.published)));
        let decode_all = |world: &World| {
            for entry in world.informer.list(None, |_| true) {
                entry.decode::<Nosy>().unwrap();
            }
        };
        // Nobody else holds what is replaced, deleted, missed by a list, or never heard by its subscriber.
        drop(std::mem::replace(&mut world.subscription, Informer::subscribe(&world.informer)));
        world.deleted();
        decode_all(&world);
        world.ingest.changed(object("a", "2").as_bytes());
        drop(std::mem::replace(&mut world.subscription, Informer::subscribe(&world.informer)));
        assert_eq!(LOOKS.get(), 1);
        world.deleted();
        decode_all(&world);
        world.ingest.deleted(object("a", "3").as_bytes());
        world.deleted();
        assert_eq!(LOOKS.get(), 2);
        world.list(4, &[]);
        world.deleted();
        assert_eq!(LOOKS.get(), 3);
    }
}

//! The map of one informer's objects, by namespace and name.

use std::{cmp::Ordering, hash::BuildHasher, sync::Arc};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable, hash_table};

use super::{
    decoded::Budget,
    entry::Entry,
    header::{Header, HeaderError},
    interner::Interner,
};
use crate::object::ObjectKey;

/// The objects of one informer. Buckets by namespace make the list of one namespace as cheap as it is long.
#[derive(Debug)]
pub(crate) struct Store {
    hasher: DefaultHashBuilder,
    namespaces: HashMap<Option<Arc<str>>, HashTable<Arc<Entry>>>,
    interner: Interner,
    budget: Arc<Budget>,
    keep_managed_fields: bool,
    len: usize,
}

/// What to do with a state that is older than what the store knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Past {
    /// It comes from a replica that lags behind: the stored state stays.
    Refused,
    /// The API server itself went back, as after a restore from a backup: what it says now is the truth.
    Accepted,
}

/// A change, as far as the store looked at it.
#[derive(Debug)]
pub(crate) struct Change {
    /// The version that the change itself carries, whatever the store has.
    pub(crate) version: u64,
    pub(crate) applied: Applied,
}

/// What a change did to the store.
#[derive(Debug)]
pub(crate) enum Applied {
    /// The key was not there.
    Added { new: Arc<Entry> },
    /// The key had another state.
    Updated { old: Arc<Entry>, new: Arc<Entry> },
    /// The store already had this state.
    Unchanged { current: Arc<Entry> },
    /// The store has a later state, or knows that there is none any more: nothing changed.
    Older { key: ObjectKey },
}

impl Applied {
    /// Of which object.
    pub(crate) fn key(&self) -> &ObjectKey {
        match self {
            Self::Added { new } | Self::Updated { new, .. } => new.key(),
            Self::Unchanged { current } => current.key(),
            Self::Older { key } => key,
        }
    }
}

/// What a deletion did to the store.
#[derive(Debug)]
pub(crate) enum Deletion {
    /// The object is gone. What the store had of it is handed over to be dropped after the store's lock.
    Removed { _stored: Option<Arc<Entry>> },
    /// The store has a later state, or has heard of this deletion before.
    Older,
}

impl Store {
    pub(crate) fn new(decoded_bytes: usize, keep_managed_fields: bool) -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            namespaces: HashMap::new(),
            interner: Interner::new(),
            budget: Budget::new(decoded_bytes),
            keep_managed_fields,
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<&Arc<Entry>> {
        self.find(key.shared_namespace(), self.hash(key.name()), key.name())
    }

    /// Every object, or those of one namespace; in no order.
    pub(crate) fn iter(&self, namespace: Option<&str>) -> impl Iterator<Item = &Arc<Entry>> {
        let buckets: Box<dyn Iterator<Item = &HashTable<Arc<Entry>>>> = match namespace {
            Some(namespace) => Box::new(self.namespaces.get(&Some(Arc::from(namespace))).into_iter()),
            None => Box::new(self.namespaces.values()),
        };
        buckets.flatten()
    }

    /// Takes in the JSON text of an object, unless that would go back in time and `past` forbids it. Everything up to the version `known` is
    /// in the store: an older object that is not there has been deleted.
    pub(crate) fn apply(&mut self, object: &[u8], known: u64, past: Past) -> Result<Change, HeaderError> {
        let header = Header::scan(object)?;
        let version = header.resource_version;
        let namespace = header.namespace.as_deref().map(|namespace| self.interner.namespace(namespace));
        let hash = self.hash(&header.name);
        let current = self.find(namespace.as_ref(), hash, &header.name).cloned();
        let is_refused = past == Past::Refused;
        let applied = match current {
            None if is_refused && version <= known => Applied::Older { key: key(namespace, &header) },
            None => Applied::Added { new: self.insert(object, &header, namespace, hash) },
            Some(current) if is_refused && is_older(&header, &current) => {
                Applied::Older { key: current.key().clone() }
            }
            Some(current) if self.is_unchanged(object, &header, &current, past) => {
                Applied::Unchanged { current }
            }
            Some(old) => Applied::Updated { old, new: self.insert(object, &header, namespace, hash) },
        };
        Ok(Change { version, applied })
    }

    /// Takes out an object whose last state is `object`, unless the store has a later one. Everything up to the version `known` is in the
    /// store: of a later object that it has not heard of, it hears now.
    pub(crate) fn delete(
        &mut self,
        object: &[u8],
        known: u64,
    ) -> Result<(Arc<Entry>, Deletion), HeaderError> {
        let last = self.entry(object)?;
        let deletion = match self.get(last.key()) {
            // Some servers send the last state with its own version, and not with that of the deletion.
            Some(current) if current.resource_version() > last.resource_version() => Deletion::Older,
            None if last.resource_version() <= known => Deletion::Older,
            _ => Deletion::Removed { _stored: self.remove(last.key()) },
        };
        Ok((last, deletion))
    }

    fn insert(
        &mut self,
        object: &[u8],
        header: &Header<'_>,
        namespace: Option<Arc<str>>,
        hash: u64,
    ) -> Arc<Entry> {
        let Self { namespaces, interner, budget, hasher, .. } = self;
        let new = Arc::new(Entry::new(
            object,
            header,
            namespace.clone(),
            interner,
            budget,
            self.keep_managed_fields,
        ));
        let bucket = namespaces.entry(namespace).or_default();
        let slot = bucket.entry(
            hash,
            |entry| entry.key().name() == header.name,
            |entry| hasher.hash_one(entry.key().name()),
        );
        match slot {
            hash_table::Entry::Occupied(mut current) => *current.get_mut() = Arc::clone(&new),
            hash_table::Entry::Vacant(free) => {
                free.insert(Arc::clone(&new));
                self.len += 1;
            }
        }
        new
    }

    /// An entry for the JSON text of an object that is not stored, as the last state of a deleted one.
    fn entry(&mut self, object: &[u8]) -> Result<Arc<Entry>, HeaderError> {
        let header = Header::scan(object)?;
        let Self { interner, budget, .. } = self;
        let namespace = header.namespace.as_deref().map(|namespace| interner.namespace(namespace));
        Ok(Arc::new(Entry::new(object, &header, namespace, interner, budget, self.keep_managed_fields)))
    }

    /// Takes an object out; `None` if it was not there.
    pub(crate) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Entry>> {
        let hash = self.hash(key.name());
        let namespace = key.shared_namespace().cloned();
        let bucket = self.namespaces.get_mut(&namespace)?;
        let found = bucket.find_entry(hash, |entry| entry.key().name() == key.name()).ok()?;
        let (removed, _) = found.remove();
        if bucket.is_empty() {
            self.namespaces.remove(&namespace);
        } else if bucket.capacity() > 64 && bucket.len() < bucket.capacity() / 4 {
            let hasher = &self.hasher;
            bucket.shrink_to_fit(|entry| hasher.hash_one(entry.key().name()));
        }
        self.len -= 1;
        Some(removed)
    }

    fn find(&self, namespace: Option<&Arc<str>>, hash: u64, name: &str) -> Option<&Arc<Entry>> {
        self.namespaces.get(&namespace.cloned())?.find(hash, |entry| entry.key().name() == name)
    }

    /// Whether `current` says the same. In a history that has been restored, one version may have two states.
    fn is_unchanged(&self, object: &[u8], header: &Header<'_>, current: &Entry, past: Past) -> bool {
        header.resource_version == current.resource_version()
            && current.is_same_object(&header.uid)
            && (past == Past::Refused || current.is_text(object, header, self.keep_managed_fields))
    }

    fn hash(&self, name: &str) -> u64 {
        self.hasher.hash_one(name)
    }
}

/// Another uid is another object; what is older is so whatever its uid says.
fn is_older(header: &Header<'_>, current: &Entry) -> bool {
    match header.resource_version.cmp(&current.resource_version()) {
        Ordering::Greater => false,
        Ordering::Less => true,
        Ordering::Equal => !current.is_same_object(&header.uid),
    }
}

fn key(namespace: Option<Arc<str>>, header: &Header<'_>) -> ObjectKey {
    ObjectKey::from_parts(namespace, header.name.as_ref().into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn object(namespace: &str, name: &str, uid: &str, version: u64) -> Vec<u8> {
        let namespace =
            if namespace.is_empty() { String::new() } else { format!(r#""namespace":"{namespace}","#) };
        format!(
            r#"{{"metadata":{{{namespace}"name":"{name}","uid":"{uid}","resourceVersion":"{version}"}}}}"#
        )
        .into_bytes()
    }

    /// What `apply` makes of it in a store that knows everything up to version 5 and holds `a/x` of uid 1 at version 5.
    #[track_caller]
    fn check(object: &[u8], past: Past, outcome: &str) {
        let mut store = Store::new(0, false);
        store.apply(&self::object("a", "x", "1", 5), 0, Past::Refused).unwrap();
        let change = store.apply(object, 5, past).unwrap();
        let applied = format!("{:?}", change.applied);
        assert!(applied.starts_with(outcome), "{applied}, not {outcome}");
        assert_eq!(change.version, Header::scan(object).unwrap().resource_version);
    }

    #[test]
    fn the_store_never_goes_back_in_time() {
        for (name, uid, version, refused, accepted) in [
            ("x", "1", 6, "Updated", "Updated"),
            ("x", "1", 5, "Unchanged", "Unchanged"),
            ("x", "1", 4, "Older", "Updated"),
            ("x", "2", 6, "Updated", "Updated"),
            ("x", "2", 5, "Older", "Updated"),
            ("x", "2", 4, "Older", "Updated"),
            ("y", "3", 6, "Added", "Added"),
            ("y", "3", 5, "Older", "Added"),
        ] {
            check(&object("a", name, uid, version), Past::Refused, refused);
            check(&object("a", name, uid, version), Past::Accepted, accepted);
        }
    }

    #[test]
    fn after_a_restore_one_version_may_have_another_state() {
        let other = br#"{"metadata":{"namespace":"a","name":"x","uid":"1","resourceVersion":"5"},"data":{}}"#;
        check(other, Past::Refused, "Unchanged");
        check(other, Past::Accepted, "Updated");
    }

    #[test]
    fn a_deletion_removes_what_is_not_newer_and_is_heard_of_once() {
        for (name, version, removes) in
            [("x", 4, false), ("x", 5, true), ("x", 6, true), ("y", 5, false), ("y", 6, true)]
        {
            let mut store = Store::new(0, false);
            store.apply(&object("a", "x", "1", 5), 0, Past::Refused).unwrap();
            let (last, deletion) = store.delete(&object("a", name, "1", version), 5).unwrap();
            assert_eq!(matches!(deletion, Deletion::Removed { .. }), removes, "{name} at {version}");
            assert_eq!(last.resource_version(), version);
            assert_eq!(store.len(), usize::from(name != "x" || !removes));
        }
    }

    proptest! {
        #[test]
        fn the_store_is_a_map(operations in prop::collection::vec((0..3_usize, 0..4_usize, any::<bool>()), 0..200)) {
            let mut store = Store::new(0, false);
            let mut model = BTreeMap::new();
            for (version, (namespace, name, put)) in (1..).zip(operations) {
                let (namespace, name) = (["", "a", "b"][namespace], ["w", "x", "y", "z"][name]);
                let key = if namespace.is_empty() { ObjectKey::cluster_scoped(name) } else { ObjectKey::new(namespace, name) };
                if put {
                    let change = store.apply(&object(namespace, name, "u", version), version - 1, Past::Refused).unwrap();
                    let added = matches!(change.applied, Applied::Added { .. });
                    prop_assert_eq!(added, model.insert(key, version).is_none());
                } else {
                    let removed = store.remove(&key).map(|entry| entry.resource_version());
                    prop_assert_eq!(removed, model.remove(&key));
                }
                prop_assert_eq!(store.len(), model.len());
            }
            let found: BTreeMap<_, _> = store.iter(None).map(|entry| (entry.key().clone(), entry.resource_version())).collect();
            prop_assert_eq!(&found, &model);
            prop_assert_eq!(store.iter(Some("a")).count(), model.keys().filter(|key| key.namespace() == Some("a")).count());
            for (key, version) in &model {
                prop_assert_eq!(store.get(key).unwrap().resource_version(), *version);
            }
        }
    }
}

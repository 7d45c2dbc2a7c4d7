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

/// What to do with a state that is older than the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Past {
    /// It comes from a replica that lags behind: the stored state stays.
    Refused,
    /// The API server itself went back, as after a restore from a backup: what it says now is the truth.
    Accepted,
}

/// What a change did to the store.
#[derive(Debug)]
pub(crate) enum Applied {
    /// The key was not there.
    Added { new: Arc<Entry> },
    /// The key had another state.
    Updated { old: Arc<Entry>, new: Arc<Entry> },
    /// The store already had this state, or a later one of the same object: nothing changed.
    Unchanged { current: Arc<Entry> },
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
        let bucket = self.namespaces.get(&key.shared_namespace().cloned())?;
        bucket.find(self.hash(key.name()), |entry| entry.key().name() == key.name())
    }

    /// Every object, or those of one namespace; in no order.
    pub(crate) fn iter(&self, namespace: Option<&str>) -> impl Iterator<Item = &Arc<Entry>> {
        let buckets: Box<dyn Iterator<Item = &HashTable<Arc<Entry>>>> = match namespace {
            Some(namespace) => Box::new(self.namespaces.get(&Some(Arc::from(namespace))).into_iter()),
            None => Box::new(self.namespaces.values()),
        };
        buckets.flatten()
    }

    /// Takes in the JSON text of an object, unless that would go back in time and `past` forbids it.
    pub(crate) fn apply(&mut self, object: &[u8], past: Past) -> Result<Applied, HeaderError> {
        let header = Header::scan(object)?;
        let namespace = header.namespace.as_deref().map(|namespace| self.interner.namespace(namespace));
        let hash = self.hash(&header.name);
        let Self { namespaces, interner, budget, hasher, .. } = self;
        let bucket = namespaces.entry(namespace.clone()).or_default();
        let slot = bucket.entry(
            hash,
            |entry| entry.key().name() == header.name,
            |entry| hasher.hash_one(entry.key().name()),
        );
        if let hash_table::Entry::Occupied(current) = &slot
            && !supersedes(&header, current.get(), past)
        {
            return Ok(Applied::Unchanged { current: Arc::clone(current.get()) });
        }
        let new =
            Arc::new(Entry::new(object, &header, namespace, interner, budget, self.keep_managed_fields));
        Ok(match slot {
            hash_table::Entry::Occupied(mut current) => {
                Applied::Updated { old: std::mem::replace(current.get_mut(), Arc::clone(&new)), new }
            }
            hash_table::Entry::Vacant(free) => {
                free.insert(Arc::clone(&new));
                self.len += 1;
                Applied::Added { new }
            }
        })
    }

    /// An entry for the JSON text of an object that is not stored, as the last state of a deleted one.
    pub(crate) fn entry(&mut self, object: &[u8]) -> Result<Arc<Entry>, HeaderError> {
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

    fn hash(&self, name: &str) -> u64 {
        self.hasher.hash_one(name)
    }
}

/// Another uid is another object, whatever its version says.
fn supersedes(header: &Header<'_>, current: &Entry, past: Past) -> bool {
    match header.resource_version.cmp(&current.resource_version()) {
        Ordering::Greater => true,
        Ordering::Less if past == Past::Accepted => true,
        Ordering::Less | Ordering::Equal => !current.is_same_object(&header.uid),
    }
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

    #[test]
    fn the_store_never_goes_back_in_time() {
        let mut store = Store::new(0, false);
        assert!(matches!(store.apply(&object("a", "x", "1", 5), Past::Refused), Ok(Applied::Added { .. })));
        assert!(matches!(
            store.apply(&object("a", "x", "1", 4), Past::Refused),
            Ok(Applied::Unchanged { .. })
        ));
        assert!(matches!(
            store.apply(&object("a", "x", "1", 5), Past::Refused),
            Ok(Applied::Unchanged { .. })
        ));
        assert!(matches!(store.apply(&object("a", "x", "1", 6), Past::Refused), Ok(Applied::Updated { .. })));
        assert!(matches!(
            store.apply(&object("a", "x", "1", 2), Past::Accepted),
            Ok(Applied::Updated { .. })
        ));
        // A recreated object is another one: an API server restored from a backup may give it a lower version.
        assert!(matches!(store.apply(&object("a", "x", "2", 1), Past::Refused), Ok(Applied::Updated { .. })));
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
                    let added = matches!(store.apply(&object(namespace, name, "u", version), Past::Refused), Ok(Applied::Added { .. }));
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

//! One copy of what many objects share: their namespace and their labels.

use std::{collections::BTreeMap, hash::BuildHasher, sync::Arc};

use hashbrown::{DefaultHashBuilder, HashTable};

/// The labels of an object; the replicas of one workload share one map.
pub(crate) type Labels = Arc<BTreeMap<String, String>>;

#[derive(Debug)]
pub(crate) struct Interner {
    hasher: DefaultHashBuilder,
    namespaces: InternTable<Arc<str>>,
    labels: InternTable<LabelSet>,
    no_labels: Labels,
}

impl Interner {
    pub(crate) fn new() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            namespaces: InternTable::new(),
            labels: InternTable::new(),
            no_labels: Labels::default(),
        }
    }

    pub(crate) fn namespace(&mut self, name: &str) -> Arc<str> {
        let Self { namespaces, hasher, .. } = self;
        namespaces.get_or_insert(hasher, name.as_bytes(), || Some(name.into())).unwrap_or_else(|| name.into())
    }

    /// The labels whose JSON text is `text`; labels that do not decode count as none, as a selector would see them.
    pub(crate) fn labels(&mut self, text: Option<&[u8]>) -> Labels {
        let Some(text) = text else { return Labels::clone(&self.no_labels) };
        let Self { labels, hasher, .. } = self;
        let found = labels.get_or_insert(hasher, text, || {
            Some(LabelSet { text: text.into(), decoded: Arc::new(serde_json::from_slice(text).ok()?) })
        });
        found.map_or_else(|| Labels::clone(&self.no_labels), |set| set.decoded)
    }
}

/// Values found by the text that they were made from.
#[derive(Debug)]
struct InternTable<V> {
    table: HashTable<V>,
    sweep_at: usize,
}

impl<V: Interned> InternTable<V> {
    fn new() -> Self {
        Self { table: HashTable::new(), sweep_at: FIRST_SWEEP }
    }

    fn get_or_insert(
        &mut self,
        hasher: &DefaultHashBuilder,
        text: &[u8],
        make: impl FnOnce() -> Option<V>,
    ) -> Option<V> {
        let hash = hasher.hash_one(text);
        if let Some(found) = self.table.find(hash, |value| value.text() == text) {
            return Some(found.clone());
        }
        let made = make()?;
        if self.table.len() >= self.sweep_at {
            // What only this table holds has lost its last object. Sweeping at doubled sizes makes an insertion cost O(1).
            self.table.retain(|value| !value.is_last());
            self.sweep_at = FIRST_SWEEP.max(self.table.len() * 2);
        }
        self.table.insert_unique(hash, made.clone(), |value| hasher.hash_one(value.text()));
        Some(made)
    }
}

trait Interned: Clone {
    fn text(&self) -> &[u8];
    fn is_last(&self) -> bool;
}

impl Interned for Arc<str> {
    fn text(&self) -> &[u8] {
        self.as_bytes()
    }

    fn is_last(&self) -> bool {
        Arc::strong_count(self) == 1
    }
}

#[derive(Clone, Debug)]
struct LabelSet {
    text: Arc<[u8]>,
    decoded: Labels,
}

impl Interned for LabelSet {
    fn text(&self) -> &[u8] {
        &self.text
    }

    fn is_last(&self) -> bool {
        Arc::strong_count(&self.decoded) == 1
    }
}

const FIRST_SWEEP: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_text_is_one_allocation() {
        let mut interner = Interner::new();
        assert!(Arc::ptr_eq(&interner.namespace("a"), &interner.namespace("a")));
        let labels = interner.labels(Some(br#"{"app":"web"}"#));
        assert_eq!(labels["app"], "web");
        assert!(Arc::ptr_eq(&labels, &interner.labels(Some(br#"{"app":"web"}"#))));
        assert!(interner.labels(None).is_empty());
        assert!(interner.labels(Some(br#"{"app":1}"#)).is_empty());
    }

    #[test]
    fn values_that_nobody_uses_any_more_are_swept() {
        let mut interner = Interner::new();
        let kept = interner.namespace("kept");
        for i in 0..10 * FIRST_SWEEP {
            interner.namespace(&format!("gone-{i}"));
        }
        assert!(interner.namespaces.table.len() <= FIRST_SWEEP);
        assert!(Arc::ptr_eq(&kept, &interner.namespace("kept")));
    }
}

//! What has happened in the cluster, and what would have happened before a restore.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

/// Plural, namespace, name.
pub type Key = (String, String, String);

/// Every change since the beginning of the current history.
#[derive(Clone, Default)]
pub struct History {
    changes: Vec<Change>,
    /// The version of the last change.
    pub head: u64,
    /// Changes up to here can not be watched any more.
    pub compacted: u64,
    /// How often a backup was restored.
    pub restores: u64,
    uids: u64,
}

#[derive(Clone)]
pub struct Change {
    pub version: u64,
    pub key: Key,
    pub event_type: &'static str,
    /// The object after the change; of a deletion, its last state at the version of the deletion.
    pub object: Arc<Value>,
}

impl History {
    /// Stores `object` as a new state of `key`; it keeps its uid if it exists.
    pub fn put(&mut self, key: &Key, mut object: Value) -> Arc<Value> {
        let current = self.at(self.head).remove(key);
        self.head += 1;
        let uid = current.as_ref().map_or_else(
            || {
                self.uids += 1;
                json!(format!("uid-{}", self.uids))
            },
            |current| current["metadata"]["uid"].clone(),
        );
        let (plural, namespace, name) = key;
        object["metadata"]["name"] = json!(name);
        if !namespace.is_empty() {
            object["metadata"]["namespace"] = json!(namespace);
        }
        object["metadata"]["uid"] = uid;
        object["metadata"]["resourceVersion"] = json!(self.head.to_string());
        if plural == "configmaps" {
            object["apiVersion"] = json!("v1");
            object["kind"] = json!("ConfigMap");
        }
        let event_type = if current.is_some() { "MODIFIED" } else { "ADDED" };
        self.push(key, event_type, object)
    }

    /// Removes `key`; gives its last state, at the version of the deletion.
    pub fn delete(&mut self, key: &Key) -> Option<Arc<Value>> {
        let current = self.at(self.head).remove(key)?;
        self.head += 1;
        let mut object = Value::clone(&current);
        object["metadata"]["resourceVersion"] = json!(self.head.to_string());
        Some(self.push(key, "DELETED", object))
    }

    /// The state at `version`.
    pub fn at(&self, version: u64) -> BTreeMap<Key, Arc<Value>> {
        let mut state = BTreeMap::new();
        for change in self.changes.iter().take_while(|change| change.version <= version) {
            if change.event_type == "DELETED" {
                state.remove(&change.key);
            } else {
                state.insert(change.key.clone(), Arc::clone(&change.object));
            }
        }
        state
    }

    /// What happened after `after`, up to `until`.
    pub fn between(&self, after: u64, until: u64) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.version > after && change.version <= until)
    }

    /// Goes back to `version`; what follows is another history, with the same versions for other changes.
    pub fn restore(&mut self, version: u64) {
        self.changes.retain(|change| change.version <= version);
        self.head = version;
        self.compacted = self.compacted.min(version);
        self.restores += 1;
    }

    fn push(&mut self, key: &Key, event_type: &'static str, object: Value) -> Arc<Value> {
        let object = Arc::new(object);
        let change = Change { version: self.head, key: key.clone(), event_type, object: Arc::clone(&object) };
        self.changes.push(change);
        object
    }
}

//! Objects whose header cannot be read.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap};
use prometheus::IntCounter;

use crate::{
    cache::store::{Header, HeaderError},
    object::{Kind, ObjectKey},
};

/// Remembers which states could not be read, so that each is logged and counted once, whatever brings it again.
pub(super) struct Quarantine {
    kind: Kind,
    counter: IntCounter,
    hasher: DefaultHashBuilder,
    /// The hash of the last such text of each object; `None` stands for those whose very name cannot be read.
    states: HashMap<Option<ObjectKey>, u64>,
}

impl Quarantine {
    pub(super) fn new(kind: Kind, counter: IntCounter) -> Self {
        Self { kind, counter, hasher: DefaultHashBuilder::default(), states: HashMap::new() }
    }

    /// Takes note of a text that cannot be read. Gives the key of its object, if at least that can.
    pub(super) fn enter(&mut self, object: &[u8], error: &HeaderError) -> Option<ObjectKey> {
        let key = Header::scan_key(object);
        let state = self.hasher.hash_one(object);
        if self.states.insert(key.clone(), state) != Some(state) {
            self.counter.inc();
            let name = key.as_ref().map(tracing::field::display);
            tracing::warn!(kind = %self.kind, object = name, %error, "an object cannot be read and keeps its last state");
        }
        key
    }

    /// The object can be read again, or is gone.
    pub(super) fn leave(&mut self, key: &ObjectKey) {
        if !self.states.is_empty() {
            self.states.remove(&Some(key.clone()));
        }
    }
}

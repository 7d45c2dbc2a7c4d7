//! The place of one field.

use super::{Key, Map, Value};

/// The place of one field of a map.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    map: &'a mut Map,
    key: Key,
}

impl<'a> Entry<'a> {
    pub(super) fn new(map: &'a mut Map, key: Key) -> Self {
        Self { map, key }
    }

    /// The field, made of `value` when absent.
    pub(crate) fn or_insert(self, value: Value) -> &'a mut Value {
        self.or_insert_with(|| value)
    }

    /// The field, made when absent.
    pub(crate) fn or_insert_with(self, make: impl FnOnce() -> Value) -> &'a mut Value {
        if !self.map.contains_key(&self.key) {
            self.map.insert(self.key.clone(), make());
        }
        self.map.get_mut(&self.key).expect("the lines above have put it there")
    }
}

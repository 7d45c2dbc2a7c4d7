//! Parts of a value by their names, indexes and pointers.

use std::ops::{Index, IndexMut};

use super::{Map, Value};

static NULL: Value = Value::Null;

impl Value {
    /// A field of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.as_object_mut()?.get_mut(name)
    }

    /// A part by its JSON pointer (RFC 6901).
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Value> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Self::Object(fields) => fields.get(&step),
            Self::Array(items) => items.get(index(&step)?),
            _ => None,
        })
    }

    #[cfg(test)]
    pub(crate) fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Self::Object(fields) => fields.get_mut(&step),
            Self::Array(items) => items.get_mut(index(&step)?),
            _ => None,
        })
    }
}

/// The steps of a pointer; none for the whole value.
fn steps(pointer: &str) -> Option<impl Iterator<Item = String>> {
    let steps = if pointer.is_empty() { None } else { Some(pointer.strip_prefix('/')?.split('/')) };
    Some(steps.into_iter().flatten().map(|step| step.replace("~1", "/").replace("~0", "~")))
}

fn index(step: &str) -> Option<usize> {
    if step.starts_with('+') || (step.starts_with('0') && step.len() != 1) {
        return None;
    }
    step.parse().ok()
}

impl Index<&str> for Value {
    type Output = Value;

    /// Null when there is no such field.
    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&NULL)
    }
}

impl Index<usize> for Value {
    type Output = Value;

    /// Null when there is no such item.
    fn index(&self, index: usize) -> &Value {
        self.as_array().and_then(|items| items.get(index)).unwrap_or(&NULL)
    }
}

impl IndexMut<&str> for Value {
    /// Makes the field when it is absent, and an object of null.
    ///
    /// # Panics
    /// Of another value than an object: whoever writes to it knows what it is.
    fn index_mut(&mut self, name: &str) -> &mut Value {
        if self.is_null() {
            *self = Self::Object(Map::new());
        }
        let fields = self.as_object_mut().expect("fields are written to an object");
        fields.entry(name).or_insert(Self::Null)
    }
}

impl IndexMut<usize> for Value {
    /// # Panics
    /// When there is no such item.
    fn index_mut(&mut self, index: usize) -> &mut Value {
        &mut self.as_array_mut().expect("items are written to an array")[index]
    }
}

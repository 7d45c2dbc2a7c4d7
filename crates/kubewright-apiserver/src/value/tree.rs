//! A value and what may be asked of it.

use super::{Map, Number};

/// A value of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(Box<str>),
    Array(Vec<Value>),
    Object(Map),
}

/// The size of a node counts: an array holds as many as a body has room for.
const _: () = assert!(size_of::<Value>() == 24, "a value is no larger than a vector");

impl Value {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    pub(crate) fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_array(&self) -> Option<&Vec<Value>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(crate) fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(crate) fn as_object(&self) -> Option<&Map> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    pub(crate) fn as_object_mut(&mut self) -> Option<&mut Map> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    /// Leaves null behind.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

//! A schema as a `CustomResourceDefinition` gives it.

use crate::value::{Map, Value};

/// One node of a schema as it is written down.
///
/// A field of the wrong type counts as absent.
///
/// Source: apiextensions `v1.JSONSchemaProps`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Definition<'a>(&'a Map);

/// What a schema says of the fields that it does not name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Additional<'a> {
    Flag(bool),
    Schema(Definition<'a>),
}

impl<'a> Definition<'a> {
    /// The schema that `value` is, if it is an object.
    pub(crate) fn of(value: &'a Value) -> Option<Self> {
        value.as_object().map(Self)
    }

    /// Its `type`; empty when it has none.
    pub(super) fn kind(self) -> &'a str {
        self.text("type")
    }

    pub(super) fn text(self, field: &str) -> &'a str {
        self.0.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn flag(self, field: &str) -> bool {
        self.0.get(field) == Some(&Value::Bool(true))
    }

    pub(super) fn number(self, field: &str) -> Option<f64> {
        self.0.get(field).and_then(Value::as_f64)
    }

    pub(super) fn integer(self, field: &str) -> Option<i64> {
        self.0.get(field).and_then(Value::as_i64)
    }

    /// A field that is there and not null.
    pub(super) fn value(self, field: &str) -> Option<&'a Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    pub(super) fn values(self, field: &str) -> &'a [Value] {
        self.0.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn texts(self, field: &str) -> impl Iterator<Item = &'a str> {
        self.values(field).iter().filter_map(Value::as_str)
    }

    /// `items`, `not`.
    pub(super) fn child(self, field: &str) -> Option<Self> {
        self.0.get(field).and_then(Self::of)
    }

    /// `allOf`, `anyOf`, `oneOf`.
    pub(super) fn children(self, field: &str) -> impl Iterator<Item = Self> {
        self.values(field).iter().filter_map(Self::of)
    }

    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, Self)> {
        let properties = self.0.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().filter_map(|(name, value)| Some((name.as_str(), Self::of(value)?)))
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.0.get("properties").and_then(|properties| properties.get(name)).and_then(Self::of)
    }

    pub(super) fn additional(self) -> Option<Additional<'a>> {
        match self.0.get("additionalProperties")? {
            Value::Bool(flag) => Some(Additional::Flag(*flag)),
            other => Self::of(other).map(Additional::Schema),
        }
    }

    /// The fields as they are written down.
    pub(super) fn fields(self) -> &'a Map {
        self.0
    }
}

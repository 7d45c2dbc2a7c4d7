//! As much of an object as a table shows.

use std::fmt;

use serde::{
    Deserialize,
    de::{Deserializer, IgnoredAny, MapAccess, Visitor},
};

use crate::{
    object::{CodecError, Document, Object},
    value::{Map, Value},
};

/// Decodes an object without what no table shows: of the metadata only names, times and labels, and of what a
/// ConfigMap or a Secret holds only how much it is.
///
/// # Errors
/// As [`Object::decode`].
pub(super) fn brief(document: &Document, is_custom: bool) -> Result<Object, CodecError> {
    let mut decoder = serde_json::Deserializer::from_slice(document.bytes());
    decoder.deserialize_map(Fields { is_custom }).map(Object).map_err(CodecError::Unreadable)
}

/// Reads the fields of the top level.
struct Fields {
    /// A column of a custom resource may lead anywhere.
    is_custom: bool,
}

impl<'de> Visitor<'de> for Fields {
    type Value = Map;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(field) = access.next_key::<String>()? {
            let value = match field.as_str() {
                "metadata" => access.next_value::<Metadata>()?.into(),
                "data" | "binaryData" if !self.is_custom => access.next_value::<Counted>()?.0,
                _ => access.next_value()?,
            };
            fields.insert(field.into(), value);
        }
        Ok(fields)
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: Value,
    namespace: Value,
    creation_timestamp: Value,
    deletion_timestamp: Value,
    labels: Value,
}

impl From<Metadata> for Value {
    fn from(metadata: Metadata) -> Self {
        let fields = [
            ("name", metadata.name),
            ("namespace", metadata.namespace),
            ("creationTimestamp", metadata.creation_timestamp),
            ("deletionTimestamp", metadata.deletion_timestamp),
            ("labels", metadata.labels),
        ];
        Self::Object(fields.into_iter().collect())
    }
}

/// An object whose fields are all `null`; `null` for everything else.
struct Counted(Value);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Keys).map(Self)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, _)) = access.next_entry::<String, IgnoredAny>()? {
            keys.push((key, Value::Null));
        }
        Ok(Value::Object(keys.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn document(value: Value) -> Document {
        let Value::Object(fields) = value else { panic!("a test object is an object") };
        Object(fields).encode().unwrap().at(3)
    }

    #[test]
    fn the_brief_object_is_the_whole_one_where_tables_look() {
        for value in [
            json!({"kind": "K", "metadata": {"name": "n", "labels": {"a": "b"}, "finalizers": ["x"]}, "spec": {"k": ["v"]}}),
            json!({"kind": "K", "metadata": {"name": "n", "annotations": {"a": "b"}}, "data": {"k": {"l": 1}}}),
        ] {
            let brief = brief(&document(value.clone()), true).unwrap();
            for pointer in ["/kind", "/metadata/name", "/metadata/labels/a", "/spec/k/0", "/data/k/l"] {
                assert_eq!(brief.at(pointer), value.pointer(pointer), "{value}");
            }
            assert_eq!(brief.at("/metadata/annotations"), None);
        }
    }

    #[test]
    fn what_a_config_map_holds_is_counted() {
        let value = json!({"kind": "ConfigMap", "data": {"a": "1", "b": "2"}, "binaryData": null});
        let brief = brief(&document(value), false).unwrap();
        assert_eq!(brief.at("/data"), Some(&json!({"a": null, "b": null})));
        assert_eq!(brief.at("/binaryData"), Some(&Value::Null));
    }
}

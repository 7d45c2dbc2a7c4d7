//! An object as the handlers change it, and its encoding.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::storage::{Document, Draft};

/// A decoded Kubernetes object: a JSON object with `metadata`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Object(pub(crate) Map<String, Value>);

impl Object {
    /// Decodes what the store holds.
    pub(crate) fn decode(document: &Document) -> Self {
        // What the store holds was encoded by `encode`.
        Self(serde_json::from_slice(document.bytes()).unwrap_or_default())
    }

    /// Decodes what tables show of what the store holds: of the metadata names, times and labels alone.
    pub(crate) fn decode_in_brief(document: &Document) -> Self {
        #[derive(Deserialize, Serialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct Brief {
            name: Value,
            namespace: Value,
            creation_timestamp: Value,
            deletion_timestamp: Value,
            labels: Value,
        }
        let brief: Brief = serde_json::from_slice(document.metadata()).unwrap_or_default();
        let rest = document.after_metadata();
        let mut bytes = Vec::with_capacity(rest.len() + 1);
        bytes.push(b'{');
        bytes.extend_from_slice(rest.strip_prefix(b",").unwrap_or(rest));
        let mut object: Map<String, Value> = serde_json::from_slice(&bytes).unwrap_or_default();
        object.insert("metadata".into(), serde_json::to_value(brief).unwrap_or_default());
        Self(object)
    }

    pub(crate) fn metadata(&self) -> &Map<String, Value> {
        static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        self.0.get("metadata").and_then(Value::as_object).unwrap_or(&EMPTY)
    }

    /// The metadata to write to; whatever is no object is replaced by an empty one.
    pub(crate) fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        object_at(&mut self.0, "metadata")
    }

    /// A string of the metadata, empty when absent.
    pub(crate) fn meta(&self, field: &str) -> &str {
        self.metadata().get(field).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.meta("name")
    }

    pub(crate) fn namespace(&self) -> &str {
        self.meta("namespace")
    }

    pub(crate) fn uid(&self) -> &str {
        self.meta("uid")
    }

    pub(crate) fn generation(&self) -> i64 {
        self.metadata().get("generation").and_then(Value::as_i64).unwrap_or_default()
    }

    pub(crate) fn is_terminating(&self) -> bool {
        !self.meta("deletionTimestamp").is_empty()
    }

    pub(crate) fn finalizers(&self) -> Vec<&str> {
        let list = self.metadata().get("finalizers").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub(crate) fn set_finalizers(&mut self, finalizers: &[String]) {
        if finalizers.is_empty() {
            self.metadata_mut().remove("finalizers");
        } else {
            self.metadata_mut().insert("finalizers".into(), finalizers.into());
        }
    }

    /// A value by JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        let mut steps = pointer.strip_prefix('/')?.splitn(2, '/');
        let first = self.0.get(steps.next()?)?;
        match steps.next() {
            Some(rest) => first.pointer(&format!("/{rest}")),
            None => Some(first),
        }
    }

    pub(crate) fn str_at(&self, pointer: &str) -> &str {
        self.at(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// The nested object `field`, made when absent.
    pub(crate) fn section(&mut self, field: &str) -> &mut Map<String, Value> {
        object_at(&mut self.0, field)
    }

    /// Sets a field or, with `None`, takes it away.
    pub(crate) fn put(&mut self, field: &str, value: Option<Value>) {
        match value {
            Some(value) => self.0.insert(field.into(), value),
            None => self.0.remove(field),
        };
    }

    /// The encoding with a hole for the revision.
    ///
    /// `apiVersion`, `kind` and `metadata` come first and the metadata is ordered as Go orders it, with
    /// `managedFields` last: readers that want an object's identity need not read all of it.
    pub(crate) fn encode(&self) -> Draft {
        let mut bytes = Vec::with_capacity(512);
        bytes.push(b'{');
        for field in ["apiVersion", "kind"] {
            if let Some(value) = self.0.get(field) {
                write_field(&mut bytes, field, value);
            }
        }
        separate(&mut bytes);
        bytes.extend_from_slice(b"\"metadata\":");
        let start = bytes.len();
        let revision_at = self.encode_metadata(&mut bytes);
        let metadata = start..bytes.len();
        for (field, value) in &self.0 {
            if !matches!(field.as_str(), "apiVersion" | "kind" | "metadata") {
                write_field(&mut bytes, field, value);
            }
        }
        bytes.push(b'}');
        Draft::new(bytes, revision_at, metadata)
    }

    fn encode_metadata(&self, bytes: &mut Vec<u8>) -> usize {
        let metadata = self.metadata();
        bytes.push(b'{');
        for field in METADATA_BEFORE_REVISION {
            if let Some(value) = metadata.get(*field) {
                write_field(bytes, field, value);
            }
        }
        separate(bytes);
        bytes.extend_from_slice(b"\"resourceVersion\":\"");
        let revision_at = bytes.len();
        bytes.push(b'"');
        for field in METADATA_AFTER_REVISION {
            if let Some(value) = metadata.get(*field) {
                write_field(bytes, field, value);
            }
        }
        bytes.push(b'}');
        revision_at
    }
}

/// The nested object `field` of `map`, made when absent.
pub(crate) fn object_at<'a>(map: &'a mut Map<String, Value>, field: &str) -> &'a mut Map<String, Value> {
    let value = map.entry(field).or_insert_with(|| Value::Object(Map::new()));
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("the line above has made it an object")
}

fn write_field(bytes: &mut Vec<u8>, field: &str, value: &Value) {
    separate(bytes);
    bytes.push(b'"');
    // Field names of the top level and of the metadata may come from users (a custom resource's top level).
    match serde_json::to_string(field) {
        Ok(quoted) => bytes.extend_from_slice(&quoted.as_bytes()[1..]),
        Err(_) => bytes.push(b'"'),
    }
    bytes.push(b':');
    // Writing a `Value` to memory cannot fail: its keys are strings and its numbers are finite.
    let _ = serde_json::to_writer(&mut *bytes, value);
}

fn separate(bytes: &mut Vec<u8>) {
    if bytes.last() != Some(&b'{') {
        bytes.push(b',');
    }
}

/// The fields of `metav1.ObjectMeta` in its own order. Others are not known to Kubernetes and are dropped.
const METADATA_BEFORE_REVISION: &[&str] = &["name", "generateName", "namespace", "selfLink", "uid"];
const METADATA_AFTER_REVISION: &[&str] = &[
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        let Value::Object(map) = value else { panic!("a test object is an object") };
        Object(map)
    }

    #[test]
    fn identity_comes_first_and_the_revision_is_put_in() {
        let encoded = object(json!({
            "data": {"b": 1, "a": "x"}, "kind": "ConfigMap", "apiVersion": "v1",
            "metadata": {"name": "n", "labels": {"l": "1"}, "resourceVersion": "5", "namespace": "s"},
        }))
        .encode();
        let text = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","namespace":"s","resourceVersion":"17","labels":{"l":"1"}},"data":{"a":"x","b":1}}"#;
        assert_eq!(encoded.at(17).bytes(), text.as_bytes());
        assert_eq!(encoded.at(17).metadata()[0], b'{');
        assert_eq!(encoded.at(17).metadata().last(), Some(&b'}'));
    }

    #[test]
    fn an_object_without_metadata_still_has_a_revision() {
        let encoded = object(json!({"kind": "K", "a\"b": [], "aaa": {}})).encode().at(3);
        let decoded = Object::decode(&encoded);
        assert_eq!(decoded.meta("resourceVersion"), "3");
        assert_eq!(decoded.at("/a\"b"), Some(&json!([])));
    }

    #[test]
    fn pointers_reach_into_the_object() {
        let object = object(json!({"spec": {"a": {"b": "c"}}}));
        assert_eq!(object.str_at("/spec/a/b"), "c");
        assert_eq!(object.at("/spec/x"), None);
    }

    #[test]
    fn the_brief_object_is_the_whole_one_where_tables_look() {
        for value in [
            json!({"kind": "K", "metadata": {"name": "n", "labels": {"a": "b"}, "finalizers": ["x"]}, "data": {"k": "v"}}),
            json!({"kind": "K", "metadata": {"name": "n", "annotations": {"a": "b"}}}),
        ] {
            let document = object(value.clone()).encode().at(3);
            let brief = Object::decode_in_brief(&document);
            for pointer in ["/metadata/name", "/data"] {
                assert_eq!(brief.at(pointer), value.pointer(pointer), "{value}");
            }
            assert_eq!(brief.at("/metadata/labels/a"), value.pointer("/metadata/labels/a"));
            assert_eq!(brief.at("/metadata/annotations"), None);
        }
    }
}

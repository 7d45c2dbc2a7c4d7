//! An object as the handlers change it, and its encoding.

use std::sync::LazyLock;

use thiserror::Error;

use super::{
    codec,
    document::{Document, Draft},
};
use crate::{
    error::Status,
    value::{Map, TOO_DEEP, Value},
};

/// A decoded Kubernetes object: a JSON object with `metadata`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Object(pub(crate) Map);

impl Object {
    /// Decodes what the store holds.
    ///
    /// # Errors
    /// [`CodecError::Unreadable`]. The store holds what [`encode`](Self::encode) has made, so that this is a fault
    /// of ours. Whoever took such an object for an empty one would lose its uid and pass over its finalizers.
    pub(crate) fn decode(document: &Document) -> Result<Self, CodecError> {
        serde_json::from_slice(document.bytes()).map(Self).map_err(CodecError::Unreadable)
    }

    pub(crate) fn metadata(&self) -> &Map {
        static EMPTY: LazyLock<Map> = LazyLock::new(Map::new);
        self.0.get("metadata").and_then(Value::as_object).unwrap_or(&EMPTY)
    }

    /// The metadata to write to; whatever is no object is replaced by an empty one.
    pub(crate) fn metadata_mut(&mut self) -> &mut Map {
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
    pub(crate) fn section(&mut self, field: &str) -> &mut Map {
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
    ///
    /// # Errors
    /// [`CodecError::TooDeep`]: nobody could read it again.
    pub(crate) fn encode(&self) -> Result<Draft, CodecError> {
        if !self.0.values().all(|value| codec::is_within(value, codec::MAX_DEPTH - 1)) {
            return Err(CodecError::TooDeep);
        }
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
        Ok(Draft::new(bytes, revision_at, metadata))
    }

    fn encode_metadata(&self, bytes: &mut Vec<u8>) -> usize {
        let metadata = self.metadata();
        bytes.push(b'{');
        for field in METADATA_BEFORE_REVISION {
            if let Some(value) = metadata.get(field) {
                write_field(bytes, field, value);
            }
        }
        separate(bytes);
        bytes.extend_from_slice(b"\"resourceVersion\":\"");
        let revision_at = bytes.len();
        bytes.push(b'"');
        for field in METADATA_AFTER_REVISION {
            if let Some(value) = metadata.get(field) {
                write_field(bytes, field, value);
            }
        }
        bytes.push(b'}');
        revision_at
    }
}

/// Why an object is not read from the store, or not written to it.
#[derive(Debug, Error)]
pub(crate) enum CodecError {
    /// What the store holds is no object. This is a fault of ours.
    #[error("failed to decode a stored object")]
    Unreadable(#[source] serde_json::Error),
    /// The client nests deeper than readers can follow.
    #[error("{TOO_DEEP}")]
    TooDeep,
}

impl From<CodecError> for Status {
    fn from(error: CodecError) -> Self {
        match error {
            CodecError::Unreadable(ref cause) => Self::internal_error(format!("{error}: {cause}")),
            CodecError::TooDeep => Self::bad_request(error.to_string()),
        }
    }
}

/// The nested object `field` of `map`, made when absent.
pub(crate) fn object_at<'a>(map: &'a mut Map, field: &str) -> &'a mut Map {
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
    use super::*;
    use crate::value::json;

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
        .encode()
        .unwrap();
        let text = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","namespace":"s","resourceVersion":"17","labels":{"l":"1"}},"data":{"a":"x","b":1}}"#;
        assert_eq!(encoded.at(17).bytes(), text.as_bytes());
        assert_eq!(encoded.at(17).metadata()[0], b'{');
        assert_eq!(encoded.at(17).metadata().last(), Some(&b'}'));
    }

    #[test]
    fn an_object_without_metadata_still_has_a_revision() {
        let encoded = object(json!({"kind": "K", "a\"b": [], "aaa": {}})).encode().unwrap().at(3);
        let decoded = Object::decode(&encoded).unwrap();
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
    fn what_could_not_be_read_again_is_not_encoded() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        let deepest = object(json!({"data": nested(codec::MAX_DEPTH - 1)})).encode().unwrap().at(1);
        assert!(Object::decode(&deepest).is_ok());
        let deeper = object(json!({"data": nested(codec::MAX_DEPTH)})).encode();
        assert!(matches!(deeper, Err(CodecError::TooDeep)));
        let deeper = object(json!({"metadata": {"labels": nested(codec::MAX_DEPTH - 1)}})).encode();
        assert!(matches!(deeper, Err(CodecError::TooDeep)));
    }

    #[test]
    fn what_cannot_be_read_is_no_empty_object() {
        let text = br#"{"metadata":{"resourceVersion":""},"data":["#;
        let document = Draft::new(text.to_vec(), 32, 12..34).at(1);
        assert!(matches!(Object::decode(&document), Err(CodecError::Unreadable(_))));
    }
}

//! Objects inside of objects: their kinds and their metadata.

use std::sync::LazyLock;

use super::node::{NodeId, Schema, Type};
use crate::{
    error::FieldError,
    value::{Map, Path, Value, json},
};

impl Schema {
    /// Drops what is no field of metadata from the objects that are embedded in `object`, and says where it was, sorted.
    ///
    /// # Errors
    /// A kind or version that is no text, metadata that no Go program could read.
    ///
    /// Source: apiextensions `schema/objectmeta.CoerceWithOptions`.
    pub(crate) fn coerce_embedded(&self, object: &mut Map) -> Result<Vec<String>, FieldError> {
        let mut dropped = Vec::new();
        self.coerce_fields(object, Self::ROOT, false, &Path::Root, &mut dropped)?;
        dropped.sort();
        Ok(dropped)
    }

    /// What is wrong with the kinds of the objects that are embedded in `object`.
    ///
    /// Source: apiextensions `schema/objectmeta.Validate`.
    pub(crate) fn validate_embedded(&self, object: &Map) -> Vec<FieldError> {
        let mut problems = Vec::new();
        self.walk(object, &mut |value, node, path| {
            if let (Value::Object(fields), true) = (value, node.is_resource) {
                problems.extend(identity(fields, path));
            }
        });
        problems
    }

    fn coerce_fields(
        &self,
        fields: &mut Map,
        id: NodeId,
        is_resource: bool,
        path: &Path<'_>,
        dropped: &mut Vec<String>,
    ) -> Result<(), FieldError> {
        let node = self.node(id);
        for (name, value) in fields.iter_mut() {
            if is_resource {
                match name.as_str() {
                    "apiVersion" | "kind" if !value.is_string() => {
                        let field = path.child(name).field();
                        return Err(FieldError::invalid(&field, Some(value), "must be a string"));
                    }
                    "metadata" => coerce_metadata(value, &path.child(name), dropped)?,
                    _ => {}
                }
            }
            if let Some((child, path)) = node.place(name, path) {
                self.coerce_value(value, child, &path, dropped)?;
            }
        }
        Ok(())
    }

    fn coerce_value(
        &self,
        value: &mut Value,
        id: NodeId,
        path: &Path<'_>,
        dropped: &mut Vec<String>,
    ) -> Result<(), FieldError> {
        let node = self.node(id);
        match value {
            Value::Object(fields) => self.coerce_fields(fields, id, node.is_resource, path, dropped),
            Value::Array(items) => {
                let Some(of_items) = node.items else { return Ok(()) };
                let mut items = items.iter_mut().enumerate();
                items.try_for_each(|(index, item)| {
                    self.coerce_value(item, of_items, &path.index(index), dropped)
                })
            }
            _ => Ok(()),
        }
    }
}

/// Drops what is no field of the metadata of an object, and says where it was, sorted.
pub(crate) fn prune_metadata(metadata: &mut Map, path: &Path<'_>) -> Vec<String> {
    let dropped = OBJECT_META.prune(metadata);
    dropped.into_iter().map(|field| format!("{path}.{field}")).collect()
}

fn coerce_metadata(value: &mut Value, path: &Path<'_>, dropped: &mut Vec<String>) -> Result<(), FieldError> {
    if let Some(problem) = mismatch(value, Schema::ROOT, "") {
        return Err(FieldError::invalid(&path.field(), Some(value), &problem));
    }
    if let Value::Object(metadata) = value {
        dropped.extend(prune_metadata(metadata, path));
    }
    Ok(())
}

/// The first field of metadata that has the wrong type, as Go's `encoding/json` tells it.
fn mismatch(value: &Value, id: NodeId, field: &str) -> Option<String> {
    let node = OBJECT_META.node(id);
    let wanted = node.types.first()?;
    let found = match value {
        Value::Null => return None,
        Value::Bool(_) => Type::Boolean,
        Value::Number(number) if number.is_i64() => Type::Integer,
        Value::Number(_) => Type::Number,
        Value::String(_) => Type::String,
        Value::Array(_) => Type::Array,
        Value::Object(_) => Type::Object,
    };
    if found != *wanted {
        let found = match found {
            Type::Boolean => "bool",
            Type::Integer | Type::Number => "number",
            other => other.name(),
        };
        let go_type = match (wanted, field) {
            (Type::Object, "") => {
                return Some(format!("json: cannot unmarshal {found} into Go value of type v1.ObjectMeta"));
            }
            (Type::Object, "labels" | "annotations") => "map[string]string",
            (Type::Object, "ownerReferences") => "v1.OwnerReference",
            (Type::Object, "managedFields") => "v1.ManagedFieldsEntry",
            (Type::Object, _) => "v1.FieldsV1",
            (Type::Array, "ownerReferences") => "[]v1.OwnerReference",
            (Type::Array, "managedFields") => "[]v1.ManagedFieldsEntry",
            (Type::Array, _) => "[]string",
            (Type::Integer | Type::Number, _) => "int64",
            (Type::Boolean, _) => "bool",
            (Type::String, "uid" | "ownerReferences.uid") => "types.UID",
            (Type::String, _) => "string",
        };
        return Some(format!(
            "json: cannot unmarshal {found} into Go struct field ObjectMeta.{field} of type {go_type}"
        ));
    }
    match value {
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let child = node.field(name)?;
            // Go does not say which entry of a map, or which item of a list.
            let path = match (field, node.property(name)) {
                ("", _) => name.to_string(),
                (field, Some(_)) => format!("{field}.{name}"),
                (field, None) => field.to_owned(),
            };
            mismatch(value, child, &path)
        }),
        Value::Array(items) => items.iter().find_map(|item| mismatch(item, node.items?, field)),
        _ => None,
    }
}

/// What is wrong with the kind and the version of an embedded object.
fn identity(fields: &Map, path: &Path<'_>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for name in ["apiVersion", "kind"] {
        let path = path.child(name);
        let field = path.field();
        match fields.get(name) {
            None => problems.push(FieldError::required(&field, "")),
            Some(value @ Value::String(text)) => {
                let is_version = name == "apiVersion";
                let problem = if text.is_empty() {
                    Some("must not be empty".to_owned())
                } else if is_version && text.matches('/').count() > 1 {
                    Some(format!("unexpected GroupVersion string: {text}"))
                } else if !is_version && !is_kind(text) {
                    Some(KIND_MESSAGE.to_owned())
                } else {
                    None
                };
                problems.extend(problem.map(|problem| FieldError::invalid(&field, Some(value), &problem)));
            }
            Some(other) => problems.push(FieldError::invalid(&field, Some(other), "must be a string")),
        }
    }
    problems
}

fn is_kind(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(inner)
        && !text.ends_with('-')
}

const KIND_MESSAGE: &str = "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Knows what [`object_meta`] knows.
static OBJECT_META: LazyLock<Schema> = LazyLock::new(|| Schema::compile(&object_meta()));

/// The metadata that every object has.
///
/// Source: apimachinery `meta/v1.ObjectMeta`.
pub(crate) fn object_meta() -> Value {
    let (text, number, flag) =
        (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "boolean"}));
    let time = json!({"type": "string", "format": "date-time"});
    let texts = json!({"type": "object", "additionalProperties": text});
    let owner = json!({"type": "object", "required": ["apiVersion", "kind", "name", "uid"], "properties": {
        "apiVersion": text, "kind": text, "name": text, "uid": text, "controller": flag, "blockOwnerDeletion": flag,
    }});
    let entry = json!({"type": "object", "properties": {
        "manager": text, "operation": text, "apiVersion": text, "time": time, "fieldsType": text,
        "fieldsV1": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}, "subresource": text,
    }});
    json!({"type": "object", "properties": {
        "name": text, "generateName": text, "namespace": text, "selfLink": text, "uid": text, "resourceVersion": text,
        "generation": number, "creationTimestamp": time, "deletionTimestamp": time,
        "deletionGracePeriodSeconds": number, "labels": texts, "annotations": texts,
        "ownerReferences": {"type": "array", "items": owner, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"]},
        "finalizers": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
        "managedFields": {"type": "array", "items": entry, "x-kubernetes-list-type": "atomic"},
    }})
}

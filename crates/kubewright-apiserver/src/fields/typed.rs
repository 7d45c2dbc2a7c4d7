//! JSON as Go reads it into the struct of a kind.

use super::{
    scalar,
    table::{Field, MessageId, Repeats, Shape, TABLE},
};
use crate::{
    object::Object,
    value::{Map, Path, Value},
};

/// Makes of an object of a built-in kind what Go makes of it by reading and writing it: fields that the kind does not
/// have are dropped, and so is what is `null`, or empty where JSON leaves that out. Says where unknown fields were, in the
/// order of their names. Objects of other kinds are left alone.
///
/// # Errors
/// A value that does not fit its field, in Go's words.
///
/// # Differences from Go
/// Texts that have a type of their own, such as `v1.PullPolicy`, are called `string`, and maps with such keys
/// `map[string]…`.
///
/// Source: `sigs.k8s.io/json.UnmarshalCaseSensitivePreserveInts`.
pub(crate) fn coerce(object: &mut Object) -> Result<Vec<String>, String> {
    let Some(id) = TABLE.kind(object.str_at("/apiVersion"), object.str_at("/kind")) else {
        return Ok(Vec::new());
    };
    let mut reader = Reader::default();
    reader.fields(id, &mut object.0, &Path::Root)?;
    Ok(reader.unknown)
}

/// Adds to an object of a built-in kind what Go writes though nobody has said anything about it: `status: {}`,
/// `rules: null`. Comes after defaults, which take such fields for absent.
pub(crate) fn complete(object: &mut Object) {
    if let Some(id) = TABLE.kind(object.str_at("/apiVersion"), object.str_at("/kind")) {
        complete_fields(id, &mut object.0);
    }
}

fn complete_fields(id: MessageId, fields: &mut Map) {
    for field in &TABLE.message(id).fields {
        let Some(name) = field.name else {
            if let Shape::Message(embedded) = field.shape {
                complete_fields(embedded, fields);
            }
            continue;
        };
        if field.shows_empty && !fields.contains_key(name) {
            let empty = if field.repeats == Repeats::Once { zero(field.shape) } else { Value::Null };
            fields.insert(name.into(), empty);
        }
        let (Shape::Message(inner), Some(value)) = (field.shape, fields.get_mut(name)) else { continue };
        match (field.repeats, value) {
            (Repeats::Once, Value::Object(fields)) => complete_fields(inner, fields),
            (Repeats::List, Value::Array(items)) => {
                items
                    .iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(|item| complete_fields(inner, item));
            }
            (Repeats::Map, Value::Object(entries)) => {
                let entries = entries.iter_mut().filter_map(|(_, entry)| entry.as_object_mut());
                entries.for_each(|entry| complete_fields(inner, entry));
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Reader {
    unknown: Vec<String>,
    /// The fields around the value that is read, each with the message that has it.
    around: Vec<(MessageId, &'static str)>,
}

impl Reader {
    fn fields(&mut self, id: MessageId, fields: &mut Map, path: &Path<'_>) -> Result<(), String> {
        let is_kind = TABLE.message(id).is_kind;
        let mut result = Ok(());
        fields.retain(|name, value| {
            if result.is_err() || (is_kind && matches!(name.as_str(), "apiVersion" | "kind")) {
                return true;
            }
            let Some((field, known)) = TABLE.named(id, name).and_then(|field| Some((field, field.name?)))
            else {
                self.unknown.push(path.child(name).to_string());
                return false;
            };
            self.around.push((id, known));
            let read = self.field(field, value, &path.child(name));
            self.around.pop();
            match read {
                Ok(stays) => stays,
                Err(error) => {
                    result = Err(error);
                    true
                }
            }
        });
        result
    }

    /// Reads the value of a field, and says whether it is one that JSON shows.
    fn field(&mut self, field: &Field, value: &mut Value, path: &Path<'_>) -> Result<bool, String> {
        match (field.repeats, &mut *value) {
            (_, Value::Null) => return Ok(false),
            (Repeats::Once, value) => self.value(field.shape, value, path)?,
            (Repeats::List, Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.item(field.shape, item, &path.index(index))?;
                }
            }
            (Repeats::Map, Value::Object(entries)) => {
                for (key, entry) in entries.iter_mut() {
                    self.item(field.shape, entry, &path.child(key))?;
                }
            }
            (_, other) => return Err(self.misfit(other, &go_type(field))),
        }
        Ok(!(field.drops_empty && is_empty(value)))
    }

    /// An item of a list or an entry of a map, which is there even if it is `null`.
    fn item(&mut self, shape: Shape, item: &mut Value, path: &Path<'_>) -> Result<(), String> {
        if item.is_null() {
            *item = zero(shape);
        }
        if item.is_null() { Ok(()) } else { self.value(shape, item, path) }
    }

    fn value(&mut self, shape: Shape, value: &mut Value, path: &Path<'_>) -> Result<(), String> {
        let fits = match (shape, &mut *value) {
            (Shape::Message(id), Value::Object(fields)) => return self.fields(id, fields, path),
            (Shape::Bytes, Value::String(text)) => return scalar::check_base64(text),
            (Shape::Time, Value::String(text)) => return scalar::read_time(text),
            (Shape::MicroTime, Value::String(text)) => return scalar::read_micro_time(text),
            (Shape::Quantity, value) => return scalar::check_quantity(value),
            (
                Shape::SchemaOrArray(id) | Shape::SchemaOrBool(id) | Shape::SchemaOrStrings(id),
                Value::Object(fields),
            ) => return self.unseen(id, fields, path),
            (Shape::SchemaOrArray(id), Value::Array(items)) => {
                let schemas = items.iter_mut().filter_map(Value::as_object_mut);
                for schema in schemas {
                    self.unseen(id, schema, path)?;
                }
                true
            }
            (Shape::String | Shape::IntOrString, Value::String(_))
            | (Shape::Bool | Shape::SchemaOrBool(_), Value::Bool(_))
            | (Shape::Float64, Value::Number(_))
            | (Shape::SchemaOrStrings(_), Value::Array(_))
            | (Shape::Json, _) => true,
            (Shape::Int32 | Shape::IntOrString, Value::Number(number)) => {
                number.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
            }
            (Shape::Int64, Value::Number(number)) => number.is_i64(),
            (Shape::Items, Value::Array(items)) => items.iter().all(Value::is_string),
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.misfit(value, &type_of(shape))) }
    }

    /// A schema that Go reads apart, where nobody asks for what it does not know.
    fn unseen(&mut self, id: MessageId, schema: &mut Map, path: &Path<'_>) -> Result<(), String> {
        let seen = self.unknown.len();
        self.fields(id, schema, path)?;
        self.unknown.truncate(seen);
        Ok(())
    }

    /// Source: `encoding/json.UnmarshalTypeError`, which names the innermost struct, and the fields on the way to it.
    fn misfit(&self, value: &Value, wanted: &str) -> String {
        let found = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Number(number) if wanted.starts_with("int") => format!("number {number}"),
            Value::Number(_) => "number".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        let owner = self.around.last().map_or("", |(id, _)| TABLE.message(*id).name);
        let fields: Vec<_> = self.around.iter().map(|(id, name)| TABLE.go_path(*id, name)).collect();
        let field = fields.join(".");
        format!("json: cannot unmarshal {found} into Go struct field {owner}.{field} of type {wanted}")
    }
}

fn go_type(field: &Field) -> String {
    let one = type_of(field.shape);
    match field.repeats {
        Repeats::Once => one,
        Repeats::List => format!("[]{one}"),
        Repeats::Map => format!("map[string]{one}"),
    }
}

/// How Go names the type of what is read, or of what it is made of.
fn type_of(shape: Shape) -> String {
    let name = match shape {
        Shape::String | Shape::Time | Shape::MicroTime => "string",
        Shape::Bool => "bool",
        Shape::Int32 | Shape::IntOrString => "int32",
        Shape::Int64 => "int64",
        Shape::Float64 => "float64",
        Shape::Bytes => "[]uint8",
        Shape::Items => "[]string",
        Shape::Quantity => "resource.Quantity",
        Shape::Json => "runtime.RawExtension",
        Shape::Message(id)
        | Shape::SchemaOrArray(id)
        | Shape::SchemaOrBool(id)
        | Shape::SchemaOrStrings(id) => &TABLE.message(id).go_type,
    };
    name.to_owned()
}

/// How Go writes a value of which nobody has said anything.
fn zero(shape: Shape) -> Value {
    match shape {
        Shape::String => "".into(),
        Shape::Bool => false.into(),
        Shape::Int32 | Shape::Int64 | Shape::Float64 | Shape::IntOrString => 0.into(),
        Shape::Quantity => "0".into(),
        Shape::Message(_) => Map::new().into(),
        _ => Value::Null,
    }
}

/// Whether a value is what Go calls empty.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn coerced(value: &Value) -> Result<(Value, Vec<String>), String> {
        let mut object = Object(value.as_object().cloned().unwrap());
        let unknown = coerce(&mut object)?;
        Ok((object.0.into(), unknown))
    }

    fn deployment(spec: &Value) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec})
    }

    #[test]
    fn what_the_kind_does_not_have_is_dropped_and_named_by_its_path() {
        let (object, unknown) = coerced(&json!({
            "apiVersion": "v1", "kind": "Pod", "foo": null,
            "metadata": {"name": "a", "labels": {"foo": "x"}, "foo": 1},
            "spec": {"containers": [{"name": "c", "Name": "d"}], "nodeSelector": {"foo": "x"},
                "volumes": [{"name": "v", "emptyDir": {"foo": {}}}]},
        }))
        .unwrap();
        let expected = ["foo", "metadata.foo", "spec.containers[0].Name", "spec.volumes[0].emptyDir.foo"];
        assert_eq!(unknown, expected);
        assert_eq!(
            object["spec"],
            json!({"containers": [{"name": "c"}], "nodeSelector": {"foo": "x"},
                "volumes": [{"name": "v", "emptyDir": {}}]})
        );
    }

    #[test]
    fn what_go_leaves_out_is_left_out() {
        let (object, unknown) = coerced(&json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "labels": {}, "annotations": {"a": null}, "creationTimestamp": null,
                "deletionTimestamp": "2026-01-02T04:04:05.7+01:00"},
            "spec": {"hostNetwork": false, "automountServiceAccountToken": false, "containers": [], "volumes": []},
        }))
        .unwrap();
        assert_eq!(unknown, [""; 0]);
        assert_eq!(
            object,
            json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "a", "annotations": {"a": ""}, "deletionTimestamp": "2026-01-02T03:04:05Z"},
                "spec": {"automountServiceAccountToken": false, "containers": []}})
        );
    }

    /// As the original answers.
    #[test]
    fn values_of_the_wrong_type_are_refused_in_the_words_of_go() {
        for (spec, problem) in [
            (
                json!({"replicas": "3"}),
                "string into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                json!({"replicas": 1.5}),
                "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                json!({"replicas": 3_000_000_000_u64}),
                "number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (json!({"paused": "yes"}), "string into Go struct field DeploymentSpec.spec.paused of type bool"),
            (
                json!({"template": 1}),
                "number into Go struct field DeploymentSpec.spec.template of type v1.PodTemplateSpec",
            ),
            (
                json!({"template": {"spec": {"containers": {}}}}),
                "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
            ),
            (
                json!({"template": {"spec": {"containers": [{"name": 1}]}}}),
                "number into Go struct field Container.spec.template.spec.containers.name of type string",
            ),
            (
                json!({"template": {"spec": {"volumes": [{"emptyDir": 1}]}}}),
                "number into Go struct field Volume.spec.template.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
            ),
            (
                json!({"template": {"metadata": {"labels": {"a": 1}}}}),
                "number into Go struct field ObjectMeta.spec.template.metadata.labels of type string",
            ),
            (
                json!({"strategy": {"rollingUpdate": {"maxSurge": []}}}),
                "array into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
            ),
        ] {
            let refused = coerced(&deployment(&spec)).unwrap_err();
            assert_eq!(refused, format!("json: cannot unmarshal {problem}"));
        }
    }

    #[test]
    fn schemas_inside_of_schemas_lose_what_is_unknown_in_silence() {
        let schema = json!({"type": "object", "properties": {"a": {"items": {"type": "string", "foo": 1}, "bar": 1}},
            "additionalProperties": {"foo": 1}, "default": {"foo": 1}});
        let (object, unknown) = coerced(&json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]},
        }))
        .unwrap();
        assert_eq!(unknown, ["spec.versions[0].schema.openAPIV3Schema.properties.a.bar"]);
        assert_eq!(
            object.pointer("/spec/versions/0/schema/openAPIV3Schema"),
            Some(&json!({"type": "object", "properties": {"a": {"items": {"type": "string"}}},
                "additionalProperties": {}, "default": {"foo": 1}}))
        );
    }

    #[test]
    fn what_go_always_writes_is_there() {
        let completed = |value: &Value| {
            let mut object = Object(value.as_object().cloned().unwrap());
            complete(&mut object);
            complete(&mut object);
            Value::from(object.0)
        };
        let role =
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a"}});
        let mut expected = role.clone();
        expected["rules"] = Value::Null;
        assert_eq!(completed(&role), expected);
        let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "a"},
            "spec": {"replicas": 0, "selector": null, "template": {"spec": {"containers": [{"name": "c"}]}}}});
        assert_eq!(
            completed(&set),
            json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "a"}, "status": {"replicas": 0},
                "spec": {"replicas": 0, "selector": null,
                    "template": {"metadata": {}, "spec": {"containers": [{"name": "c", "resources": {}}]}}}})
        );
        let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget"});
        assert_eq!(completed(&widget), widget);
    }

    #[test]
    fn other_kinds_are_left_alone() {
        let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "foo": {"a": null}});
        assert_eq!(coerced(&widget), Ok((widget, Vec::new())));
    }
}

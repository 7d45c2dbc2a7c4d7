//! What a document says of the objects of a built-in kind: the fields that Go's types have.

use super::{document::reference, required};
use crate::{
    fields::{Field, Message, MessageId, Repeats, Shape, TABLE},
    patch::Facts,
    value::{Map, Value, json},
};

/// Adds the schema of a kind and of all types that it names, and gives its name; `None` if there is no such kind.
pub(super) fn add(api_version: &str, kind: &str, schemas: &mut Map) -> Option<String> {
    let id = TABLE.kind(api_version, kind)?;
    Some(add_message(id, Facts::of(api_version, kind), schemas))
}

/// The name of the schema of a kind.
pub(super) fn name(api_version: &str, kind: &str) -> Option<String> {
    TABLE.kind(api_version, kind).map(|id| schema_name(TABLE.message(id)))
}

fn add_message(id: MessageId, facts: Facts, schemas: &mut Map) -> String {
    let message = TABLE.message(id);
    let name = schema_name(message);
    if schemas.contains_key(&name) {
        return name;
    }
    // Types may contain themselves.
    schemas.insert(name.as_str().into(), Value::Null);
    let mut properties = Map::new();
    if message.is_kind {
        properties.insert("apiVersion".into(), json!({"type": "string"}));
        properties.insert("kind".into(), json!({"type": "string"}));
    }
    add_fields(message, facts, &mut properties, schemas);
    let mut schema = json!({"type": "object"});
    if !properties.is_empty() {
        schema["properties"] = properties.into();
    }
    let required = required::of(&message.full_name());
    if !required.is_empty() {
        schema["required"] = required.iter().map(|field| Value::from(*field)).collect();
    }
    schemas.insert(name.as_str().into(), schema);
    name
}

/// The fields of a message, and of those whose fields stand in it.
fn add_fields(message: &Message, facts: Facts, properties: &mut Map, schemas: &mut Map) {
    for field in &message.fields {
        match (field.name, field.shape) {
            (Some(name), _) => {
                let property = property(message, field, name, facts, schemas);
                properties.insert(name.into(), property);
            }
            (None, Shape::Message(inner)) => add_fields(TABLE.message(inner), facts, properties, schemas),
            (None, _) => {}
        }
    }
}

fn property(message: &Message, field: &Field, name: &str, facts: Facts, schemas: &mut Map) -> Value {
    let (strategy, below) = facts.field(name);
    let one = one(message, field.shape, below, schemas);
    let mut property = match field.repeats {
        Repeats::Once if one.get("$ref").is_some() => json!({"allOf": [one]}),
        Repeats::Once => one,
        Repeats::List => json!({"type": "array", "items": one}),
        Repeats::Map => json!({"type": "object", "additionalProperties": one}),
    };
    if !strategy.words.is_empty() {
        property["x-kubernetes-patch-strategy"] = strategy.words.into();
    }
    if !strategy.key.is_empty() {
        property["x-kubernetes-patch-merge-key"] = strategy.key.into();
    }
    property
}

/// What one value looks like.
fn one(message: &Message, shape: Shape, facts: Facts, schemas: &mut Map) -> Value {
    let special = |name: &str, schema: Value, schemas: &mut Map| {
        let name = format!("io.k8s.apimachinery.pkg.{name}");
        let found = reference(&name);
        schemas.insert(name.into(), schema);
        found
    };
    match shape {
        Shape::String => json!({"type": "string"}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Int32 => json!({"type": "integer", "format": "int32"}),
        Shape::Int64 => json!({"type": "integer", "format": "int64"}),
        Shape::Float64 => json!({"type": "number", "format": "double"}),
        Shape::Bytes => json!({"type": "string", "format": "byte"}),
        Shape::Items => json!({"type": "array", "items": {"type": "string"}}),
        Shape::Message(id) => reference(&add_message(id, facts, schemas)),
        Shape::Time => {
            special("apis.meta.v1.Time", json!({"type": "string", "format": "date-time"}), schemas)
        }
        Shape::MicroTime => {
            special("apis.meta.v1.MicroTime", json!({"type": "string", "format": "date-time"}), schemas)
        }
        Shape::Quantity => special(
            "api.resource.Quantity",
            json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
            schemas,
        ),
        Shape::IntOrString => {
            let schema =
                json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]});
            special("util.intstr.IntOrString", schema, schemas)
        }
        // A default or an example in a schema may be anything.
        Shape::Json if message.name == "JSONSchemaProps" => json!({}),
        Shape::Json => json!({"type": "object"}),
        Shape::SchemaOrArray(_) | Shape::SchemaOrBool(_) | Shape::SchemaOrStrings(_) => json!({}),
    }
}

/// `io.k8s.api.apps.v1.Deployment`.
fn schema_name(message: &Message) -> String {
    let full_name = message.full_name();
    let home = match full_name.split('/').next().unwrap_or_default() {
        "meta" => "apimachinery.pkg.apis",
        "apiextensions" => "apiextensions-apiserver.pkg.apis",
        "apiregistration" => "kube-aggregator.pkg.apis",
        _ => "api",
    };
    format!("io.k8s.{home}.{}", full_name.replace('/', "."))
}

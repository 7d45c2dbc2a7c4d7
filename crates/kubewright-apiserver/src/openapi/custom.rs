//! What a document says of the objects of a custom resource.

use super::document::GVK;
use crate::{
    kind::Kind,
    value::{Map, Value, json},
};

/// The schemas of a kind and of its lists, with their names.
///
/// Source: apiextensions `controller/openapi/builder.buildKubeNative`, `buildListSchema`. What fields mean that all
/// objects have is told in our own words.
pub(super) fn schemas(kind: &Kind, name: &str) -> [(String, Value); 2] {
    let definition = kind.schema.as_deref().cloned();
    let mut schema = definition.filter(Value::is_object).unwrap_or_else(|| json!({"type": "object"}));
    let object = schema.as_object_mut().expect("the line above has made it an object");
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.extend(identity());
        let mut metadata = reference(OBJECT_META);
        metadata["description"] = "Name, labels and the like.".into();
        properties.insert("metadata".into(), metadata);
    }
    object.insert(GVK.into(), json!([identity_of(kind, &kind.kind)]));
    if !kind.field_labels.is_empty() {
        let fields: Vec<Value> =
            kind.field_labels.iter().map(|(label, _)| json!({"fieldPath": format!(".{label}")})).collect();
        object.insert("x-kubernetes-selectable-fields".into(), fields.into());
    }
    let mut list = json!({"type": "object", "required": ["items"], "properties": {
        "items": {"type": "array", "description": "The objects.", "items": reference(name)},
        "metadata": reference(LIST_META),
    }});
    list["description"] = format!("{} is a list of {}", kind.list_kind, kind.kind).into();
    list[GVK] = json!([identity_of(kind, &kind.list_kind)]);
    if let Some(properties) = list["properties"].as_object_mut() {
        properties.extend(identity());
    }
    [(name.to_owned(), schema), (format!("{name}List"), list)]
}

/// The schemas that those of custom resources refer to.
pub(super) fn metadata() -> [(String, Value); 2] {
    let text = json!({"type": "string"});
    let list = json!({"type": "object", "properties": {
        "continue": text, "remainingItemCount": {"type": "integer", "format": "int64"}, "resourceVersion": text, "selfLink": text,
    }});
    [(OBJECT_META.to_owned(), crate::schema::object_meta()), (LIST_META.to_owned(), list)]
}

fn reference(name: &str) -> Value {
    json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}]})
}

fn identity_of(kind: &Kind, name: &str) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": name})
}

fn identity() -> Map {
    let field = |name: &str, description: &str| {
        (name.to_owned(), json!({"type": "string", "description": description}))
    };
    Map::from_iter([
        field("apiVersion", "The group and the version in which the object is written."),
        field("kind", "What the object is."),
    ])
}

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
pub(super) const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

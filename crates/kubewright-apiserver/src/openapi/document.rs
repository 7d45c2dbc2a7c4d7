//! The document of one version of a group.

use std::sync::Arc;

use super::{builtin, custom, operations};
use crate::{
    kind::Kind,
    value::{Map, Value, json},
};

/// The document of these kinds.
pub(super) fn of(kinds: &[Arc<Kind>]) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for kind in kinds {
        let name = schema_name(kind);
        if kind.is_custom {
            schemas.extend(custom::schemas(kind, &name));
        } else if builtin::add(&kind.api_version(), &kind.kind, &mut schemas).is_some() {
            if let Some(schema) = schemas.get_mut(&name) {
                schema[GVK] = json!([gvk(&kind.group, &kind.version, &kind.kind)]);
            }
            schemas.insert(format!("{name}List").into(), list(kind, &name));
        }
        for subresource in &kind.subresources {
            if let Some([group, version, other]) = subresource.other_kind() {
                let added = builtin::add(&api_version(group, version), other, &mut schemas);
                if let Some(schema) = added.and_then(|name| schemas.get_mut(&name)) {
                    schema[GVK] = json!([gvk(group, version, other)]);
                }
            }
        }
        operations::add(kind, &name, &mut paths);
    }
    for (name, schema) in custom::metadata() {
        schemas.entry(name).or_insert_with(|| schema);
    }
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths, "components": {"schemas": schemas},
    })
}

/// All that a document says of a kind, as far as it differs from server to server.
pub(super) fn identity(kind: &Kind) -> String {
    let parts: Vec<&str> = kind.subresources.iter().map(crate::kind::Subresource::name).collect();
    let schema = kind.schema.as_ref().map(|schema| schema.to_string()).unwrap_or_default();
    format!(
        "{}/{}/{}/{:?}/{parts:?}/{schema}/{:?}\n",
        kind.kind, kind.plural, kind.list_kind, kind.scope, kind.field_labels
    )
}

/// `com.example.v1.Widget`, `io.k8s.api.apps.v1.Deployment`.
pub(super) fn schema_name(kind: &Kind) -> String {
    let known = if kind.is_custom { None } else { builtin::name(&kind.api_version(), &kind.kind) };
    known.unwrap_or_else(|| {
        let reversed: Vec<&str> = kind.group.rsplit('.').collect();
        format!("{}.{}.{}", reversed.join("."), kind.version, kind.kind)
    })
}

pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

pub(super) fn gvk(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

pub(super) fn path_of(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// The schema of lists of a built-in kind.
fn list(kind: &Kind, name: &str) -> Value {
    let text = json!({"type": "string"});
    let mut list = json!({"type": "object", "required": ["items"], "properties": {
        "apiVersion": text, "kind": text, "items": {"type": "array", "items": reference(name)},
        "metadata": {"allOf": [reference(custom::LIST_META)]},
    }});
    list[GVK] = json!([gvk(&kind.group, &kind.version, &kind.list_kind)]);
    list
}

pub(super) const GVK: &str = "x-kubernetes-group-version-kind";

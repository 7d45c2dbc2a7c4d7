//! What no schema may have anywhere.

use crate::schema::definition::{Additional, Definition};

/// The first thing that makes a schema impossible to compile.
///
/// Source: apiextensions `schema.NewStructural`.
pub(super) fn find(definition: Definition<'_>) -> Option<&'static str> {
    let has = |field: &str| definition.value(field).is_some_and(|value| !super::is_zero(value));
    for (field, text) in FIELDS {
        if has(field) {
            return Some(text);
        }
    }
    if definition.value("items").is_some_and(crate::value::Value::is_array) {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array");
    }
    if definition.value("x-kubernetes-preserve-unknown-fields") == Some(&false.into()) {
        return Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined");
    }
    let additional = match definition.additional() {
        Some(Additional::Schema(additional)) => Some(additional),
        _ => None,
    };
    let single = [definition.child("not"), definition.child("items"), additional].into_iter().flatten();
    let several = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|field| definition.children(field));
    let properties = definition.properties().map(|(_, property)| property);
    single.chain(several).chain(properties).find_map(find)
}

const FIELDS: &[(&str, &str)] = &[
    ("id", "OpenAPIV3Schema 'id' is not supported"),
    ("$schema", "OpenAPIV3Schema 'schema' is not supported"),
    ("$ref", "OpenAPIV3Schema '$ref' is not supported"),
    ("patternProperties", "OpenAPIV3Schema 'patternProperties' is not supported"),
    ("dependencies", "OpenAPIV3Schema 'dependencies' is not supported"),
    ("additionalItems", "OpenAPIV3Schema 'additionalItems' is not supported"),
    ("definitions", "OpenAPIV3Schema 'definitions' is not supported"),
];

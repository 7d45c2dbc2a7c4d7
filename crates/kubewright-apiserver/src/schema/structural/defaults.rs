//! Defaults that their own schema takes.

use crate::{
    error::FieldError,
    schema::{definition::Definition, node::Schema},
    value::{Path, Value},
};

/// Checks the defaults of a structural schema.
///
/// Source: apiextensions `schema/defaulting.ValidateDefaults`.
pub(super) fn check(value: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    node(value, path, &mut problems);
    problems
}

fn node(value: &Value, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    let Some(definition) = Definition::of(value) else { return };
    if let Some(default) = definition.value("default") {
        problems.extend(default_of(value, default, &path.child("default")));
    }
    // Below `additionalProperties` nothing is looked at: upstream does not, either.
    if let Some(items) = definition.value("items") {
        node(items, &path.child("items"), problems);
    }
    let properties = path.child("properties");
    let children = definition.value("properties").and_then(Value::as_object);
    for (name, property) in children.into_iter().flatten() {
        node(property, &properties.key(name), problems);
    }
}

fn default_of(definition: &Value, default: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let schema = Schema::compile(definition);
    let mut problems = Vec::new();
    let mut pruned = default.clone();
    schema.prune_value(&mut pruned);
    if pruned != *default {
        problems.push(FieldError::invalid(&path.field(), Some(default), "must not have unknown fields"));
    }
    problems.extend(schema.validate_at(Schema::ROOT, default, &path.field()));
    problems
}

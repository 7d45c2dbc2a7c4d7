//! Whether what a definition says may be a schema.
//!
//! Source: apiextensions `validation.validateCustomResourceDefinitionValidation`.

mod completeness;
mod defaults;
mod invariants;
mod metadata;
mod rules;
#[cfg(test)]
mod tests;
mod unsupported;

use super::definition::Definition;
use crate::{
    error::FieldError,
    value::{Path, Value},
};

/// What is wrong with the schema of one version, which stands at `path`.
pub(crate) fn check(value: &Value, has_status: bool, path: &Path<'_>) -> Vec<FieldError> {
    let Some(definition) = Definition::of(value) else { return Vec::new() };
    let mut problems = Vec::new();
    if has_status {
        problems.extend(root_with_status(definition, path));
    }
    if definition.flag("nullable") {
        problems.push(FieldError::forbidden(
            &path.child("nullable").field(),
            "nullable cannot be true at the root",
        ));
    }
    let unsupported = unsupported::find(definition);
    if unsupported.is_none() {
        // Defaults of a schema that is not structural would be held against nonsense.
        let not_structural = structure(definition, path);
        problems.extend(if not_structural.is_empty() {
            defaults::check(value, path)
        } else {
            not_structural
        });
    }
    problems.extend(rules::check(definition, path));
    if let Some(text) = unsupported
        && problems.is_empty()
    {
        problems.push(FieldError::invalid(&path.field(), Some(&"".into()), text));
    }
    problems
}

/// Why a schema is not structural, sorted.
fn structure(definition: Definition<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let mut problems = invariants::check(definition, path);
    problems.extend(completeness::check(definition, path));
    problems.sort_by_cached_key(ToString::to_string);
    problems
}

/// What may stand at the root when the status is checked alone, by the part of the schema that is about it.
fn root_with_status(definition: Definition<'_>, path: &Path<'_>) -> Option<FieldError> {
    let kind = definition.kind();
    if !kind.is_empty() && kind != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        return Some(FieldError::invalid(&path.child("type").field(), Some(&kind.into()), detail));
    }
    let is_set = |field: &&str| definition.value(field).is_some_and(|value| !is_zero(value));
    NOT_AT_ROOT.iter().find(|field| is_set(field))?;
    let shown = Value::Object(definition.fields().clone());
    Some(FieldError::invalid(&path.field(), Some(&shown), AT_ROOT))
}

/// Whether Go has the value in a field that nobody has set.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Number(_) => false,
    }
}

const NOT_AT_ROOT: &[&str] = &[
    "id",
    "$schema",
    "$ref",
    "nullable",
    "default",
    "maxProperties",
    "minProperties",
    "enum",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "additionalProperties",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
];
const AT_ROOT: &str = "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled";

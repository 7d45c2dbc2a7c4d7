//! What makes a schema structural: types everywhere, and none inside of alternatives.

use super::metadata;
use crate::{
    error::FieldError,
    schema::{
        definition::{Additional, Definition},
        pattern,
    },
    value::{Path, Value, json},
};

/// Checks a whole schema.
///
/// Source: apiextensions `schema.validateStructuralInvariants`.
pub(super) fn check(definition: Definition<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    node(definition, Level::Root, path, &mut problems);
    problems
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

fn node(definition: Definition<'_>, level: Level, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    let items = path.child("items");
    match definition.child("items") {
        Some(of_items) => node(of_items, Level::Item, &items, problems),
        None if definition.kind() == "array" => {
            problems.push(FieldError::required(&items.field(), "must be specified"));
        }
        None => {}
    }
    let properties = path.child("properties");
    for (name, property) in definition.properties() {
        node(property, Level::Field, &properties.key(name), problems);
    }
    let additional = path.child("additionalProperties");
    if let Some(found) = definition.additional() {
        if level == Level::Root {
            problems.push(FieldError::forbidden(&additional.field(), "must not be used at the root"));
        }
        if let Additional::Schema(found) = found {
            node(found, Level::Field, &additional, problems);
        }
        if definition.flag(EMBEDDED) {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            problems.push(FieldError::forbidden(&additional.field(), detail));
        }
    }
    extensions(definition, path, problems);
    let skip = Skip {
        any_of: is_int_or_string(definition),
        first_all_of: definition.children("allOf").next().is_some_and(is_int_or_string),
    };
    values(definition, skip, path, problems);
    kind(definition, level, path, problems);
    problems.extend(metadata::check(definition, level == Level::Root, path));
    if definition.flag(EMBEDDED) && !definition.flag(PRESERVE) && definition.properties().next().is_none() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        problems.push(FieldError::required(&properties.field(), detail));
    }
}

fn kind(definition: Definition<'_>, level: Level, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    let field = path.child("type").field();
    let kind = definition.kind();
    let is_open = definition.flag(INT_OR_STRING) || definition.flag(PRESERVE);
    if definition.flag(EMBEDDED) && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        problems.push(if kind.is_empty() {
            FieldError::required(&field, detail)
        } else {
            FieldError::invalid(&field, Some(&kind.into()), detail)
        });
    } else if kind.is_empty() && !is_open {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        problems.push(FieldError::required(&field, detail));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        problems.push(FieldError::invalid(&field, Some(&kind.into()), "must be object at the root"));
    }
}

fn extensions(definition: Definition<'_>, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    for extension in [PRESERVE, EMBEDDED] {
        if definition.flag(INT_OR_STRING) && definition.flag(extension) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            problems.push(FieldError::invalid(&path.child(extension).field(), Some(&true.into()), detail));
        }
    }
}

/// Which alternatives may say `integer` or `string`, as those of int-or-string do.
#[derive(Clone, Copy, Default)]
struct Skip {
    any_of: bool,
    first_all_of: bool,
}

/// What is asked of values.
///
/// Source: apiextensions `schema.validateValueValidation`.
fn values(definition: Definition<'_>, skip: Skip, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    for junctor in ["anyOf", "allOf", "oneOf"] {
        if junctor == "anyOf" && skip.any_of {
            continue;
        }
        let path = path.child(junctor);
        for (index, nested) in definition.children(junctor).enumerate() {
            let any_of = junctor == "allOf" && index == 0 && skip.first_all_of;
            alternative(nested, Skip { any_of, first_all_of: false }, &path.index(index), problems);
        }
    }
    if let Some(not) = definition.child("not") {
        alternative(not, Skip::default(), &path.child("not"), problems);
    }
    let expression = definition.text("pattern");
    if !expression.is_empty()
        && let Err(problem) = pattern::compile(expression)
    {
        let detail = format!("must be a valid regular expression, but isn't: {problem}");
        problems.push(FieldError::invalid(&path.child("pattern").field(), Some(&expression.into()), &detail));
    }
}

/// What stands under `allOf` and the like may not shape values, only judge them.
///
/// Source: apiextensions `schema.validateNestedValueValidation`.
fn alternative(definition: Definition<'_>, skip: Skip, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    values(definition, skip, path, problems);
    if let Some(items) = definition.child("items") {
        alternative(items, Skip::default(), &path.child("items"), problems);
    }
    let properties = path.child("properties");
    for (name, property) in definition.properties() {
        alternative(property, Skip::default(), &properties.key(name), problems);
    }
    let has_additional = match definition.additional() {
        Some(Additional::Flag(allowed)) => allowed,
        Some(Additional::Schema(_)) => true,
        None => false,
    };
    for (field, detail) in SHAPE {
        let is_set = match *field {
            "additionalProperties" => has_additional,
            _ => definition.value(field).is_some_and(|value| !super::is_zero(value)),
        };
        if is_set {
            problems.push(FieldError::forbidden(&path.child(field).field(), detail));
        }
    }
    if definition.property("metadata").is_some() {
        let detail = "must not be specified in a nested context";
        problems.push(FieldError::forbidden(&properties.key("metadata").field(), detail));
    }
}

fn is_int_or_string(definition: Definition<'_>) -> bool {
    definition.value("anyOf").is_some_and(|value| *value == int_or_string())
}

fn int_or_string() -> Value {
    json!([{"type": "integer"}, {"type": "string"}])
}

const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// The fields that shape values.
const SHAPE: &[(&str, &str)] = &[
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (PRESERVE, "must be false to be structural"),
    (EMBEDDED, "must be false to be structural"),
    (INT_OR_STRING, "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
];

//! What a schema may say at all, structural or not.

use crate::{
    error::FieldError,
    schema::{
        definition::{Additional, Definition},
        node::Type,
        prune::META_FIELDS,
    },
    value::{Path, Value},
};

/// Checks a whole schema.
///
/// Source: apiextensions `validation.ValidateCustomResourceDefinitionOpenAPISchema` and `specStandardValidatorV3`. The
/// rules of `x-kubernetes-validations` are looked at, and not compiled.
pub(super) fn check(definition: Definition<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    node(definition, Place { is_root: true, ..Place::default() }, path, &mut problems);
    problems
}

/// Where a node stands.
#[derive(Clone, Copy, Default)]
struct Place {
    is_root: bool,
    in_metadata: bool,
    /// Why there may be no defaults.
    no_defaults: Option<&'static str>,
}

fn node(definition: Definition<'_>, place: Place, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    standard(definition, place, path, problems);
    let inside = Place { is_root: false, ..place };
    let additional = path.child("additionalProperties");
    if let Some(found) = definition.additional() {
        let has_properties = definition.properties().next().is_some();
        if has_properties && !matches!(found, Additional::Flag(true)) {
            let detail = "additionalProperties and properties are mutual exclusive";
            problems.push(FieldError::forbidden(&additional.field(), detail));
        }
        if let Additional::Schema(found) = found {
            let reason =
                inside.in_metadata.then_some("inside additionalProperties applying to object metadata");
            node(
                found,
                Place { no_defaults: reason.or(inside.no_defaults), ..inside },
                &additional,
                problems,
            );
        }
    }
    let properties = path.child("properties");
    for (name, property) in definition.properties() {
        let mut inside = inside;
        let is_resource = place.is_root || definition.flag("x-kubernetes-embedded-resource");
        if let Some(index) = META_FIELDS.iter().position(|field| is_resource && *field == name) {
            inside.in_metadata = true;
            if place.is_root {
                inside.no_defaults = Some(IN_TOP_LEVEL[index]);
            }
        }
        node(property, inside, &properties.key(name), problems);
    }
    for junctor in ["allOf", "oneOf", "anyOf"] {
        let path = path.child(junctor);
        for (index, nested) in definition.children(junctor).enumerate() {
            node(nested, inside, &path.index(index), problems);
        }
    }
    for field in ["not", "items"] {
        if let Some(nested) = definition.child(field) {
            node(nested, inside, &path.child(field), problems);
        }
    }
    maps_and_lists(definition, path, problems);
    validations(definition, path, problems);
}

fn standard(definition: Definition<'_>, place: Place, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    let kind = definition.kind();
    let field = |name: &str| path.child(name).field();
    if !kind.is_empty() && Type::parse(kind).is_none() {
        let supported = ["array", "boolean", "integer", "number", "object", "string"];
        problems.push(FieldError::not_supported(&field("type"), kind, &supported));
    }
    if definition.value("default").is_some()
        && let Some(reason) = place.no_defaults
    {
        problems.push(FieldError::forbidden(&field("default"), &format!("must not be set {reason}")));
    }
    for name in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
        if definition.value(name).is_some_and(|value| !super::is_zero(value) || name == "$ref") {
            problems.push(FieldError::forbidden(&field(name), &format!("{name} is not supported")));
        }
    }
    if kind == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        problems.push(FieldError::forbidden(&field("type"), detail));
    }
    if definition.value("items").is_some_and(Value::is_array) {
        problems
            .push(FieldError::forbidden(&field("items"), "items must be a schema object and not an array"));
    }
    if place.in_metadata && definition.flag("x-kubernetes-embedded-resource") {
        let detail = "must not be used inside of resource meta";
        problems.push(FieldError::forbidden(&field("x-kubernetes-embedded-resource"), detail));
    }
    if definition.flag("uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        problems.push(FieldError::forbidden(&field("uniqueItems"), detail));
    }
    if let Some(value @ Value::Bool(false)) = definition.value(PRESERVE) {
        problems.push(FieldError::invalid(&field(PRESERVE), Some(value), "must be true or undefined"));
    }
}

fn maps_and_lists(definition: Definition<'_>, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    let has = |field: &str| definition.value(field).is_some();
    for (extension, wanted, known) in [
        (MAP_TYPE, "object", &["atomic", "granular"][..]),
        (LIST_TYPE, "array", &["atomic", "set", "map"][..]),
    ] {
        let value = definition.text(extension);
        if !has(extension) {
            continue;
        }
        let (field, kind) = (path.child("type").field(), definition.kind());
        let detail = format!("must be {wanted} if {extension} is specified");
        if kind.is_empty() {
            problems.push(FieldError::required(&field, &detail));
        } else if kind != wanted {
            problems.push(FieldError::invalid(&field, Some(&kind.into()), &detail));
        }
        if !known.contains(&value) {
            problems.push(FieldError::not_supported(&path.child(extension).field(), value, known));
        }
    }
    let keys: Vec<&str> = definition.texts(LIST_KEYS).collect();
    let list = definition.text(LIST_TYPE);
    let field = path.child(LIST_TYPE).field();
    if !keys.is_empty() && list != "map" {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        problems.push(if has(LIST_TYPE) {
            FieldError::invalid(&field, Some(&list.into()), detail)
        } else {
            FieldError::required(&field, detail)
        });
    }
    if list == "map" {
        list_map(definition, &keys, path, problems);
    }
    let Some(items) = definition.child("items").filter(|_| matches!(list, "set" | "map")) else { return };
    if items.flag("nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        problems.push(FieldError::forbidden(&path.child("items").child("nullable").field(), &detail));
    }
    if list == "set" {
        atomic_items(items, &path.child("items"), problems);
    }
}

/// The items of a set are compared as wholes.
fn atomic_items(items: Definition<'_>, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    let list = items.value(LIST_TYPE);
    let (extension, is_whole) = match items.kind() {
        "array" => (LIST_TYPE, list.is_none_or(|list| list == "atomic")),
        "object" => (MAP_TYPE, items.text(MAP_TYPE) == "atomic"),
        _ => return,
    };
    if !is_whole {
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        problems.push(FieldError::invalid(&path.child(extension).field(), list, detail));
    }
}

fn list_map(definition: Definition<'_>, keys: &[&str], path: &Path<'_>, problems: &mut Vec<FieldError>) {
    let keys_at = path.child(LIST_KEYS).field();
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        problems.push(FieldError::required(&keys_at, detail));
    }
    let items_at = path.child("items");
    let Some(items) = definition.child("items") else {
        if definition.value("items").is_none() {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            problems.push(FieldError::required(&items_at.field(), detail));
        }
        return;
    };
    if items.kind() != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        let field = items_at.child("type").field();
        problems.push(FieldError::invalid(&field, Some(&items.kind().into()), detail));
        return;
    }
    let properties = items_at.child("properties");
    let all_keys = || Some(definition.values(LIST_KEYS).to_vec().into());
    for (index, key) in keys.iter().enumerate() {
        let property_at = properties.key(key);
        match items.property(key) {
            None => {
                let detail = "entries must all be names of item properties";
                problems.push(FieldError::invalid(&keys_at, all_keys().as_ref(), detail));
            }
            Some(property) => {
                if matches!(property.kind(), "array" | "object") {
                    let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    let field = property_at.child("type").field();
                    problems.push(FieldError::invalid(&field, Some(&items.kind().into()), detail));
                }
                if !items.texts("required").any(|required| required == *key)
                    && property.value("default").is_none()
                {
                    let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
                    problems.push(FieldError::required(&property_at.child("default").field(), detail));
                }
                if property.flag("nullable") {
                    let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
                    problems.push(FieldError::forbidden(&property_at.child("nullable").field(), detail));
                }
            }
        }
        if keys[..index].contains(key) {
            let detail = "must not contain duplicate entries";
            problems.push(FieldError::invalid(&keys_at, all_keys().as_ref(), detail));
        }
    }
}

/// The rules in CEL, as far as they can be judged without compiling them.
fn validations(definition: Definition<'_>, path: &Path<'_>, problems: &mut Vec<FieldError>) {
    let list = path.child("x-kubernetes-validations");
    for (index, rule) in definition.children("x-kubernetes-validations").enumerate() {
        let path = list.index(index);
        let field = |name: &str| path.child(name).field();
        let has_break = |text: &str| text.contains(['\n', '\r']);
        let is_blank = |name: &str| !rule.text(name).is_empty() && rule.text(name).trim().is_empty();
        let (expression, message) = (rule.text("rule").trim(), rule.text("message").trim());
        let invalid = |name: &str, detail: &str| FieldError::invalid(&field(name), rule.value(name), detail);
        if expression.is_empty() {
            problems.push(FieldError::required(&field("rule"), "rule is not specified"));
        } else if is_blank("message") {
            problems.push(invalid("message", "must be non-empty if specified"));
        } else if has_break(message) {
            problems.push(invalid("message", "must not contain line breaks"));
        } else if has_break(expression) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            problems.push(FieldError::required(&field("message"), detail));
        }
        if is_blank("messageExpression") {
            let detail = "messageExpression must be non-empty if specified";
            problems.push(FieldError::required(&field("messageExpression"), detail));
        }
        if let Some(Value::String(reason)) = rule.value("reason")
            && !REASONS.contains(&&**reason)
        {
            problems.push(FieldError::not_supported(&field("reason"), &**reason, REASONS));
        }
        if is_blank("fieldPath") {
            problems.push(invalid("fieldPath", "must be non-empty if specified"));
        }
        if has_break(rule.text("fieldPath")) {
            problems.push(invalid("fieldPath", "must not contain line breaks"));
        }
    }
}

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";
/// In the order of [`META_FIELDS`].
const IN_TOP_LEVEL: [&str; 3] = ["in top-level apiVersion", "in top-level kind", "in top-level metadata"];
const REASONS: &[&str] =
    &["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

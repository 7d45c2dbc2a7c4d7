//! The names of a definition and of what it defines.

use crate::{error::FieldError, kind::definition_name, name::NameRule, object::Object, value::Value};

/// A definition is named after what it defines.
pub(super) fn of_object(object: &Object) -> Option<FieldError> {
    let wanted = definition_name(object.str_at("/spec/names/plural"), object.str_at("/spec/group"));
    let detail = "must be spec.names.plural+\".\"+spec.group";
    (object.name() != wanted)
        .then(|| FieldError::invalid("metadata.name", object.metadata().get("name"), detail))
}

/// Names that have to be there.
pub(super) fn required(object: &Object) -> Vec<FieldError> {
    let is_missing = |field: &&&str| object.str_at(&format!("/spec/names/{field}")).is_empty();
    let fields = ["plural", "singular", "kind", "listKind"];
    fields
        .iter()
        .filter(is_missing)
        .map(|field| FieldError::required(&format!("spec.names.{field}"), ""))
        .collect()
}

/// What is wrong with names that are there.
///
/// Source: apiextensions `validation.ValidateCustomResourceDefinitionNames`.
pub(super) fn check(names: Option<&Value>, path: &str) -> Vec<FieldError> {
    let Some(names) = names else { return Vec::new() };
    let mut problems = Vec::new();
    let text = |field: &str| names[field].as_str().unwrap_or_default();
    for field in ["plural", "singular"] {
        problems.extend(label(text(field), text(field), "", &format!("{path}.{field}")));
    }
    for field in ["kind", "listKind"] {
        let prefix = "may have mixed case, but should otherwise match: ";
        problems.extend(label(text(field), &text(field).to_lowercase(), prefix, &format!("{path}.{field}")));
    }
    problems.extend(list(names, "shortNames", path));
    if !text("kind").is_empty() && text("kind") == text("listKind") {
        let detail = "kind and listKind may not be the same";
        problems.push(FieldError::invalid(&format!("{path}.listKind"), names.get("listKind"), detail));
    }
    problems.extend(list(names, "categories", path));
    problems
}

fn list(names: &Value, field: &str, path: &str) -> Vec<FieldError> {
    let names = names[field].as_array().into_iter().flatten().filter_map(Value::as_str).enumerate();
    // An empty name is none of the names above, but a bad one of these.
    names.filter_map(|(index, name)| judged(name, name, "", &format!("{path}.{field}[{index}]"))).collect()
}

fn label(name: &str, judged_name: &str, prefix: &str, path: &str) -> Option<FieldError> {
    if name.is_empty() { None } else { judged(name, judged_name, prefix, path) }
}

fn judged(name: &str, judged: &str, prefix: &str, path: &str) -> Option<FieldError> {
    let texts = NameRule::Dns1035Label.check(judged);
    (!texts.is_empty())
        .then(|| FieldError::invalid(path, Some(&name.into()), &format!("{prefix}{}", texts.join(","))))
}

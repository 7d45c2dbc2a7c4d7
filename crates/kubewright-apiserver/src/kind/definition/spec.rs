//! What a definition asks for.

use super::{
    column, conversion, name,
    part::{is_common, part, versions},
    selectable, subresource, version,
};
use crate::{
    error::FieldError,
    name::NameRule,
    object::Object,
    schema::structural,
    value::{Path, Value},
};

/// Source: apiextensions `validation.validateCustomResourceDefinitionSpec`. A schema that was taken once is not judged again.
pub(super) fn check(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    problems.extend(group(new));
    problems.extend(scope(new));
    let versions = versions(new);
    for (index, version) in versions.iter().enumerate() {
        if version.pointer("/schema/openAPIV3Schema").is_none_or(Value::is_null) {
            problems
                .push(FieldError::required(&format!("spec.versions[{index}].schema.openAPIV3Schema"), ""));
        }
    }
    for (index, version) in versions.iter().enumerate() {
        problems.extend(version::check(version, index));
        problems.extend(parts(new, old, version, Some(index)));
    }
    problems.extend(version::check_all(new));
    problems.extend(name::required(new));
    problems.extend(name::check(new.at("/spec/names"), "spec.names"));
    if let Some(version) = versions.first() {
        problems.extend(parts(new, old, version, None));
    }
    problems.extend(conversion::check(new));
    if let Some(value @ Value::Bool(true)) = new.at("/spec/preserveUnknownFields") {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        problems.push(FieldError::invalid("spec.preserveUnknownFields", Some(value), detail));
    }
    problems
}

/// What may not change, some of it only since the names were accepted.
///
/// Source: apiextensions `validation.validateCustomResourceDefinitionSpecUpdate`.
pub(super) fn changes(new: &Object, old: &Object) -> Vec<FieldError> {
    let conditions = old.at("/status/conditions").and_then(Value::as_array);
    let is_established = conditions
        .is_some_and(|all| all.iter().any(|one| one["type"] == "Established" && one["status"] == "True"));
    let mut fields = if is_established { vec!["scope", "names.kind"] } else { Vec::new() };
    fields.extend(["group", "names.plural"]);
    let pointer = |field: &str| format!("/spec/{}", field.replace('.', "/"));
    let changed = fields.into_iter().filter(|field| new.at(&pointer(field)) != old.at(&pointer(field)));
    changed.map(|field| FieldError::immutable(&format!("spec.{field}"), new.at(&pointer(field)))).collect()
}

fn group(object: &Object) -> Option<FieldError> {
    let group = object.str_at("/spec/group");
    let texts = NameRule::DnsSubdomain.check(group);
    let detail = if group.is_empty() {
        return Some(FieldError::required("spec.group", ""));
    } else if !texts.is_empty() {
        texts.join(",")
    } else if !group.contains('.') {
        "should be a domain with at least one dot".to_owned()
    } else {
        return None;
    };
    Some(FieldError::invalid("spec.group", Some(&group.into()), &detail))
}

fn scope(object: &Object) -> Option<FieldError> {
    match object.str_at("/spec/scope") {
        "" => Some(FieldError::required("spec.scope", "")),
        "Cluster" | "Namespaced" => None,
        other => Some(FieldError::not_supported("spec.scope", other, &["Cluster", "Namespaced"])),
    }
}

/// What versions say of their own, or all of them alike: at `spec.versions[index]`, or at `spec` without an index.
fn parts(new: &Object, old: Option<&Object>, version: &Value, index: Option<usize>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let versions = versions(new);
    let is_here = |field: &str| is_common(versions, field) == index.is_none();
    let base = index.map_or_else(|| "spec".to_owned(), |index| format!("spec.versions[{index}]"));
    if is_here("schema")
        && let Some(schema) = version.pointer("/schema/openAPIV3Schema")
        && !is_known(old, version, schema)
    {
        let name = if index.is_none() { "spec.validation" } else { &format!("{base}.schema") };
        let root = Path::Root;
        let has_status = versions.iter().any(|other| {
            (index.is_none() || std::ptr::eq(other, version))
                && other.pointer("/subresources/status").is_some_and(|status| !status.is_null())
        });
        let path = root.child(name);
        problems.extend(structural::check(schema, has_status, &path.child("openAPIV3Schema")));
    }
    if is_here("subresources")
        && let Some(subresources) = part(version, "subresources")
    {
        problems.extend(subresource::check(subresources, &format!("{base}.subresources")));
    }
    if is_here("additionalPrinterColumns") {
        problems.extend(column::check(version, &format!("{base}.additionalPrinterColumns")));
    }
    if is_here("selectableFields") {
        problems.extend(selectable::check(version, &format!("{base}.selectableFields")));
    }
    problems
}

fn is_known(old: Option<&Object>, version: &Value, schema: &Value) -> bool {
    let known = |old: &&Value| old["name"] == version["name"];
    let before = old.and_then(|old| versions(old).iter().find(known));
    before.and_then(|before| before.pointer("/schema/openAPIV3Schema")) == Some(schema)
}

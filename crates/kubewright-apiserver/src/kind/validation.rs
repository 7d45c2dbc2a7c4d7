//! The checks that are cheap, certain and needed most. The schema-driven ones are the business of `schema`.

use serde_json::Value;

use super::rules::NameRule;
use crate::{error::FieldError, object::Object};

/// Checks a new object, with the one it replaces if there is one.
pub(crate) type Validate = fn(&Object, Option<&Object>) -> Vec<FieldError>;

/// ConfigMaps and Secrets may be frozen.
///
/// Source: core `validation.ValidateConfigMapUpdate`, `ValidateSecretUpdate`.
pub(super) fn immutable_when_asked(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let Some(old) = old else { return Vec::new() };
    let mut problems = Vec::new();
    if old.at("/immutable") == Some(&Value::Bool(true)) {
        if new.at("/immutable") != Some(&Value::Bool(true)) {
            problems.push(FieldError::forbidden("immutable", "field is immutable when `immutable` is set"));
        }
        for field in ["data", "binaryData"] {
            if new.0.get(field) != old.0.get(field) {
                problems.push(FieldError::forbidden(field, "field is immutable when `immutable` is set"));
            }
        }
    }
    problems
}

/// A Secret's type is fixed at birth.
pub(super) fn secret(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = immutable_when_asked(new, old);
    if let Some(old) = old
        && old.str_at("/type") != new.str_at("/type")
    {
        problems.push(FieldError::immutable("type", new.at("/type")));
    }
    problems
}

/// A workload selects its own pods, and always the same ones.
///
/// Source: apps `validation.ValidateDeploymentSpec` and its siblings.
pub(super) fn workload(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if let Some(replicas) = new.at("/spec/replicas").and_then(Value::as_i64)
        && replicas < 0
    {
        problems.push(FieldError::invalid(
            "spec.replicas",
            new.at("/spec/replicas"),
            "must be greater than or equal to 0",
        ));
    }
    let selector = new.at("/spec/selector");
    if selector.is_none() {
        problems.push(FieldError::required("spec.selector", ""));
    }
    let labels = new.at("/spec/template/metadata/labels");
    let unmatched = new.at("/spec/selector/matchLabels").and_then(Value::as_object).is_some_and(|wanted| {
        wanted.iter().any(|(label, value)| labels.and_then(|labels| labels.get(label)) != Some(value))
    });
    if unmatched {
        let detail = "`selector` does not match template `labels`";
        problems.push(FieldError::invalid("spec.template.metadata.labels", labels, detail));
    }
    if let Some(old) = old
        && old.at("/spec/selector") != selector
    {
        problems.push(FieldError::immutable("spec.selector", selector));
    }
    problems
}

/// What a role binding grants is fixed at birth.
///
/// Source: rbac `validation.ValidateRoleBindingUpdate`.
pub(super) fn role_binding(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let changed = old.is_some_and(|old| old.at("/roleRef") != new.at("/roleRef"));
    if changed {
        vec![FieldError::invalid("roleRef", new.at("/roleRef"), "cannot change roleRef")]
    } else {
        Vec::new()
    }
}

/// A definition is named after what it defines, and keeps exactly one version.
///
/// Source: apiextensions `validation.ValidateCustomResourceDefinition`.
pub(super) fn custom_resource_definition(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for field in ["group", "scope"] {
        let pointer = format!("/spec/{field}");
        if new.str_at(&pointer).is_empty() {
            problems.push(FieldError::required(&format!("spec.{field}"), ""));
        }
        if let Some(old) = old
            && old.at(&pointer) != new.at(&pointer)
        {
            problems.push(FieldError::immutable(&format!("spec.{field}"), new.at(&pointer)));
        }
    }
    for field in ["plural", "kind"] {
        if new.str_at(&format!("/spec/names/{field}")).is_empty() {
            problems.push(FieldError::required(&format!("spec.names.{field}"), ""));
        }
    }
    problems.extend(definition_names(new));
    if new.name() != super::definition_name(new.str_at("/spec/names/plural"), new.str_at("/spec/group")) {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        problems.push(FieldError::invalid("metadata.name", new.metadata().get("name"), detail));
    }
    let versions = new.at("/spec/versions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if versions.iter().filter(|version| version["storage"] == Value::Bool(true)).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        problems.push(FieldError::invalid("spec.versions", new.at("/spec/versions"), detail));
    }
    for (index, version) in versions.iter().enumerate() {
        let name = version["name"].as_str().unwrap_or_default();
        for text in NameRule::Dns1035Label.check(name) {
            let field = format!("spec.versions[{index}].name");
            problems.push(FieldError::invalid(&field, version.get("name"), &text));
        }
        if version.pointer("/schema/openAPIV3Schema").is_none() {
            let field = format!("spec.versions[{index}].schema.openAPIV3Schema");
            problems.push(FieldError::required(&field, "schemas are required"));
        }
    }
    problems
}

/// The names become parts of paths and of encoded objects.
fn definition_names(new: &Object) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for text in NameRule::DnsSubdomain.check(new.str_at("/spec/group")) {
        problems.push(FieldError::invalid("spec.group", new.at("/spec/group"), &text));
    }
    for field in ["plural", "singular", "kind", "listKind"] {
        let value = new.at(&format!("/spec/names/{field}"));
        let name = value.and_then(Value::as_str).unwrap_or_default();
        let (name, prefix) = if matches!(field, "kind" | "listKind") {
            (name.to_lowercase(), "may have mixed case, but should otherwise match: ")
        } else {
            (name.to_owned(), "")
        };
        let texts = if name.is_empty() { Vec::new() } else { NameRule::Dns1035Label.check(&name) };
        for text in texts {
            let path = format!("spec.names.{field}");
            problems.push(FieldError::invalid(&path, value, &format!("{prefix}{text}")));
        }
    }
    problems
}

//! The checks that are cheap, certain and needed most. The schema-driven ones are the business of `schema`.

use serde_json::Value;

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

//! Groups that belong to Kubernetes itself.

use crate::{error::FieldError, object::Object, value::Value};

/// A group of Kubernetes itself says who has approved it.
///
/// Source: apiextensions `validation.validateAPIApproval`.
pub(super) fn check(new: &Object, old: Option<&Object>) -> Option<FieldError> {
    let group = new.str_at("/spec/group");
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let state = State::of(new);
    if !is_protected || old.is_some_and(|old| State::of(old) == state) {
        return None;
    }
    let field = format!("metadata.annotations[{ANNOTATION}]");
    match state {
        State::Given => None,
        State::Missing => {
            let detail = format!("protected groups must have approval annotation \"{ANNOTATION}\", {SEE}");
            Some(FieldError::required(&field, &detail))
        }
        State::Invalid => {
            let detail = format!(
                "protected groups must have approval annotation \"{ANNOTATION}\" with either a URL or a reason starting with \"unapproved\", {SEE}"
            );
            Some(FieldError::invalid(&field, annotation(new), &detail))
        }
    }
}

/// What the annotation says.
#[derive(PartialEq, Eq)]
enum State {
    Missing,
    Invalid,
    Given,
}

impl State {
    fn of(object: &Object) -> Self {
        let text = annotation(object).and_then(Value::as_str).unwrap_or_default();
        let is_address = text.split_once("://").is_some_and(|(scheme, rest)| {
            !scheme.is_empty() && !rest.is_empty() && !rest.starts_with('/') && !text.contains(' ')
        });
        match text {
            "" => Self::Missing,
            _ if text.starts_with("unapproved") || is_address => Self::Given,
            _ => Self::Invalid,
        }
    }
}

fn annotation(object: &Object) -> Option<&Value> {
    object.metadata().get("annotations")?.get(ANNOTATION)
}

const ANNOTATION: &str = "api-approved.kubernetes.io";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

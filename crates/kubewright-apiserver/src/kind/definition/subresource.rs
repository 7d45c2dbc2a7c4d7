//! Where a scale finds its numbers.

use crate::{error::FieldError, value::Value};

/// Source: apiextensions `validation.ValidateCustomResourceDefinitionSubresources`.
pub(super) fn check(subresources: &Value, path: &str) -> Vec<FieldError> {
    let Some(scale) = subresources.get("scale").filter(|scale| !scale.is_null()) else { return Vec::new() };
    let mut problems = Vec::new();
    for (field, below, detail, is_required) in [
        ("specReplicasPath", &[".spec."][..], "should be a json path under .spec", true),
        ("statusReplicasPath", &[".status."], "should be a json path under .status", true),
        (
            "labelSelectorPath",
            &[".spec.", ".status."],
            "should be a json path under either .spec or .status",
            false,
        ),
    ] {
        let at = format!("{path}.scale.{field}");
        let found = scale[field].as_str().unwrap_or_default();
        if found.is_empty() {
            problems.extend(is_required.then(|| FieldError::required(&at, "")));
        } else if let Some(problem) = simple_path(found, &at) {
            problems.push(problem);
        } else if !below.iter().any(|below| found.starts_with(below)) {
            problems.push(FieldError::invalid(&at, scale.get(field), detail));
        }
    }
    problems
}

/// What is wrong with a path in dots, which is not empty.
///
/// Source: apiextensions `validation.validateSimpleJSONPath`.
pub(super) fn simple_path(text: &str, field: &str) -> Option<FieldError> {
    let detail = "must be a simple json path starting with .";
    (!text.starts_with('.')).then(|| FieldError::invalid(field, Some(&text.into()), detail))
}

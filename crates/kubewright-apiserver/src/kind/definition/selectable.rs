//! The fields that selectors may name.

use crate::{error::FieldError, value::Value};

/// Source: apiextensions `validation.ValidateCustomResourceSelectableFields`.
pub(super) fn check(version: &Value, path: &str) -> Vec<FieldError> {
    let fields = version["selectableFields"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(schema) = version.pointer("/schema/openAPIV3Schema") else { return Vec::new() };
    let mut problems = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let at = format!("{path}[{index}].jsonPath");
        let text = field["jsonPath"].as_str().unwrap_or_default();
        if text.is_empty() {
            problems.push(FieldError::required(&at, ""));
            continue;
        }
        let invalid = |detail: &str| FieldError::invalid(&at, field.get("jsonPath"), detail);
        let found = match resolve(text, schema) {
            Ok(found) => found,
            Err(problem) => {
                problems.push(invalid(&format!("is an invalid path: {problem}")));
                continue;
            }
        };
        if text == ".metadata" || text.starts_with(".metadata.") {
            problems.push(invalid("must not point to fields in metadata"));
        }
        if !matches!(found["type"].as_str(), Some("string" | "boolean" | "integer")) {
            problems.push(invalid(
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
            ));
        }
        if seen.contains(&text) {
            problems.push(FieldError::duplicate(&at, &text.into()));
        } else {
            seen.push(text);
        }
    }
    if seen.len() > MAX_FIELDS {
        let (found, max) =
            (i64::try_from(seen.len()).unwrap_or(i64::MAX), i64::try_from(MAX_FIELDS).unwrap_or(i64::MAX));
        problems.push(FieldError::too_many(path, found, max));
    }
    problems
}

/// The schema of the field that a path leads to.
///
/// Source: apiextensions `schema/cel.ValidFieldPath`, without brackets.
fn resolve<'a>(path: &str, schema: &'a Value) -> Result<&'a Value, String> {
    if path.contains('[') {
        return Err("array notation is not allowed".to_owned());
    }
    let Some(names) = path.strip_prefix('.') else {
        let token = path.split('.').next().unwrap_or_default();
        return Err(format!("expected [ or . but got: {token}"));
    };
    names.split('.').try_fold(schema, |schema, name| {
        let properties = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty());
        let found = match properties {
            _ if name.is_empty() => return Err("unexpected end of JSON path".to_owned()),
            Some(properties) => properties.get(name),
            None => schema.get("additionalProperties").filter(|additional| additional.is_object()),
        };
        found.ok_or_else(|| "does not refer to a valid field".to_owned())
    })
}

/// Source: apiextensions `validation.MaxSelectableFields`.
const MAX_FIELDS: usize = 8;

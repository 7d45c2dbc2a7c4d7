//! What is wrong with one field.

use std::fmt;

use super::strconv;
use crate::value::{Value, json};

/// What is wrong with one field.
///
/// Source: apimachinery `util/validation/field.Error`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldError {
    field: String,
    problem: Problem,
    detail: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Problem {
    Required,
    Invalid(Value),
    TypeInvalid(Value),
    NotSupported(Value),
    Forbidden,
    TooLong,
    TooMany(i64),
    Duplicate(Value),
}

impl FieldError {
    pub(crate) fn required(field: &str, detail: &str) -> Self {
        Self::new(field, Problem::Required, detail)
    }

    pub(crate) fn invalid(field: &str, value: Option<&Value>, detail: &str) -> Self {
        Self::new(field, Problem::Invalid(value.cloned().unwrap_or_default()), detail)
    }

    /// A value of the wrong type, which reads as an invalid one.
    pub(crate) fn type_invalid(field: &str, value: &Value, detail: &str) -> Self {
        Self::new(field, Problem::TypeInvalid(value.clone()), detail)
    }

    pub(crate) fn not_supported(field: &str, value: impl Into<Value>, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        Self::new(field, Problem::NotSupported(value.into()), &detail)
    }

    pub(crate) fn forbidden(field: &str, detail: &str) -> Self {
        Self::new(field, Problem::Forbidden, detail)
    }

    pub(crate) fn too_long(field: &str, max_bytes: usize) -> Self {
        let bytes = if max_bytes == 1 { "byte" } else { "bytes" };
        Self::new(field, Problem::TooLong, &format!("may not be more than {max_bytes} {bytes}"))
    }

    pub(crate) fn too_many(field: &str, found: i64, max: i64) -> Self {
        let items = if max == 1 { "item" } else { "items" };
        Self::new(field, Problem::TooMany(found), &format!("must have at most {max} {items}"))
    }

    pub(crate) fn duplicate(field: &str, value: &Value) -> Self {
        Self::new(field, Problem::Duplicate(value.clone()), "")
    }

    pub(crate) fn immutable(field: &str, value: Option<&Value>) -> Self {
        Self::invalid(field, value, "field is immutable")
    }

    /// The entry in `details.causes`.
    pub(super) fn cause(&self) -> Value {
        let reason = match self.problem {
            Problem::Required => "FieldValueRequired",
            Problem::Invalid(_) => "FieldValueInvalid",
            Problem::TypeInvalid(_) => "FieldValueTypeInvalid",
            Problem::NotSupported(_) => "FieldValueNotSupported",
            Problem::Forbidden => "FieldValueForbidden",
            Problem::TooLong => "FieldValueTooLong",
            Problem::TooMany(_) => "FieldValueTooMany",
            Problem::Duplicate(_) => "FieldValueDuplicate",
        };
        json!({"reason": reason, "message": self.body(), "field": self.field})
    }

    fn new(field: &str, problem: Problem, detail: &str) -> Self {
        Self { field: field.to_owned(), problem, detail: detail.to_owned() }
    }

    fn body(&self) -> String {
        let head = match &self.problem {
            Problem::Required => "Required value".to_owned(),
            Problem::Invalid(value) | Problem::TypeInvalid(value) => {
                format!("Invalid value: {}", shown(value))
            }
            Problem::NotSupported(value) => format!("Unsupported value: {}", shown(value)),
            Problem::Forbidden => "Forbidden".to_owned(),
            Problem::TooLong => "Too long".to_owned(),
            Problem::TooMany(found) => format!("Too many: {found}"),
            Problem::Duplicate(value) => format!("Duplicate value: {value}"),
        };
        if self.detail.is_empty() { head } else { format!("{head}: {}", self.detail) }
    }
}

/// Texts as Go quotes them, everything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => strconv::quote(text),
        other => other.to_string(),
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.body())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_upstream_writes_them() {
        let cases = [
            (FieldError::required("spec.a", ""), "spec.a: Required value"),
            (FieldError::required("a", "is required"), "a: Required value: is required"),
            (FieldError::invalid("a", Some(&json!("b")), "bad"), "a: Invalid value: \"b\": bad"),
            (
                FieldError::not_supported("dryRun", "x", &["All"]),
                "dryRun: Unsupported value: \"x\": supported values: \"All\"",
            ),
            (
                FieldError::not_supported("dryRun", vec!["All", "x"], &["All"]),
                "dryRun: Unsupported value: [\"All\",\"x\"]: supported values: \"All\"",
            ),
            (FieldError::invalid("a", Some(&json!("\u{7f}")), ""), "a: Invalid value: \"\\x7f\""),
            (FieldError::too_long("a", 9), "a: Too long: may not be more than 9 bytes"),
            (FieldError::too_long("a", 1), "a: Too long: may not be more than 1 byte"),
            (FieldError::too_many("a", 3, 2), "a: Too many: 3: must have at most 2 items"),
            (
                FieldError::type_invalid("a", &json!("integer"), "must be text"),
                "a: Invalid value: \"integer\": must be text",
            ),
            (FieldError::forbidden("data", "frozen"), "data: Forbidden: frozen"),
            (FieldError::immutable("a", Some(&json!(1))), "a: Invalid value: 1: field is immutable"),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
        }
    }
}

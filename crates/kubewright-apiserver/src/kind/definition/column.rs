//! The columns that people are shown.

use super::subresource::simple_path;
use crate::{error::FieldError, value::Value};

/// Source: apiextensions `validation.ValidateCustomResourceColumnDefinition`.
pub(super) fn check(version: &Value, path: &str) -> Vec<FieldError> {
    let columns = version["additionalPrinterColumns"].as_array().into_iter().flatten().enumerate();
    columns.flat_map(|(index, column)| one(column, &format!("{path}[{index}]"))).collect()
}

fn one(column: &Value, path: &str) -> Vec<FieldError> {
    let text = |field: &str| column[field].as_str().unwrap_or_default();
    let field = |name: &str| format!("{path}.{name}");
    let mut problems = Vec::new();
    if text("name").is_empty() {
        problems.push(FieldError::required(&field("name"), ""));
    }
    let detail = format!("must be one of {}", TYPES.join(","));
    if text("type").is_empty() {
        problems.push(FieldError::required(&field("type"), &detail));
    } else if !TYPES.contains(&text("type")) {
        problems.push(FieldError::invalid(&field("type"), column.get("type"), &detail));
    }
    if !text("format").is_empty() && !FORMATS.contains(&text("format")) {
        let detail = format!("must be one of {}", FORMATS.join(","));
        problems.push(FieldError::invalid(&field("format"), column.get("format"), &detail));
    }
    // The internal version calls it so.
    let path = field("JSONPath");
    if text("jsonPath").is_empty() {
        problems.push(FieldError::required(&path, ""));
    } else {
        problems.extend(simple_path(text("jsonPath"), &path));
    }
    problems
}

const TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
const FORMATS: &[&str] = &["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

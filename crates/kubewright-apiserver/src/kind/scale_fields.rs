//! The fields that a scale is made of.

use super::row::ScalePaths;
use crate::{
    error::{FieldError, fmt},
    object::Object,
    value::Value,
};

/// Checks the wanted replicas.
///
/// Source: apiextensions `customresource.customResourceValidator.ValidateScaleSpec`.
pub(super) fn of_spec(paths: &ScalePaths, object: &Object) -> Option<FieldError> {
    number(object, &paths.replicas)
}

/// Checks the replicas that there are, and the selector of what is counted.
///
/// Source: apiextensions `customresource.customResourceValidator.ValidateScaleStatus`.
pub(super) fn of_status(paths: &ScalePaths, object: &Object) -> Vec<FieldError> {
    let bad_selector = paths.selector.as_ref().and_then(|selector| match object.at(selector) {
        None | Some(Value::String(_)) => None,
        Some(other) => Some(wrong_type(selector, other, &"".into(), "string")),
    });
    number(object, &paths.status_replicas).into_iter().chain(bad_selector).collect()
}

fn number(object: &Object, pointer: &str) -> Option<FieldError> {
    let value = object.at(pointer)?;
    let field = path(pointer);
    match value.as_i64() {
        None => Some(wrong_type(pointer, value, &0.into(), "int64")),
        Some(..0) => Some(FieldError::invalid(&field, Some(value), "should be a non-negative integer")),
        Some(number) if number > i64::from(i32::MAX) => {
            let detail = format!("should be less than or equal to {}", i32::MAX);
            Some(FieldError::invalid(&field, Some(value), &detail))
        }
        Some(_) => None,
    }
}

/// Source: apimachinery `unstructured.NestedInt64`, `NestedString`.
fn wrong_type(pointer: &str, value: &Value, shown: &Value, wanted: &str) -> FieldError {
    let (text, found) = (fmt::value(value), fmt::type_name(value));
    let path = path(pointer);
    let detail = format!("{path} accessor error: {text} is of the type {found}, expected {wanted}");
    FieldError::invalid(&path, Some(shown), &detail)
}

/// `/spec/replicas` as a definition writes it.
fn path(pointer: &str) -> String {
    pointer.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn what_is_no_number_reads_as_in_go() {
        let paths = ScalePaths {
            replicas: "/spec/replicas".into(),
            status_replicas: "/status/replicas".into(),
            selector: None,
        };
        for (replicas, shown) in [
            (json!("3"), "3 is of the type string"),
            (json!(null), "<nil> is of the type <nil>"),
            (json!([1, "a"]), "[1 a] is of the type []interface {}"),
            (json!({"a": 1}), "map[a:1] is of the type map[string]interface {}"),
        ] {
            let object = json!({"spec": {"replicas": replicas}}).as_object().cloned().map(Object).unwrap();
            let expected = format!(
                ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: {shown}, expected int64"
            );
            assert_eq!(of_spec(&paths, &object).unwrap().to_string(), expected);
        }
    }
}

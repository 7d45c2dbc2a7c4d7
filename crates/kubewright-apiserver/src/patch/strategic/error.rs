//! Why a patch cannot be applied.

use serde_json::{Map, Value};
use thiserror::Error;

/// Why a strategic merge patch cannot be applied.
///
/// Source: apimachinery `util/mergepatch`.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum StrategicPatchError {
    /// A directive has the wrong form. The client has made a mistake.
    #[error("invalid patch format of {0}")]
    Format(&'static str),
    /// A list holds lists.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The patch and the object do not fit. Upstream takes this for a fault of its own.
    #[error("{0}")]
    Unfit(String),
}

impl StrategicPatchError {
    pub(super) fn no_key(item: &Map<String, Value>, key: &str) -> Self {
        let shown = go_map(item);
        Self::Unfit(format!("map: {shown} does not contain declared merge key: {key}"))
    }

    pub(super) fn unknown_directive(directive: &Value, map: &Map<String, Value>) -> Self {
        Self::Unfit(format!("unknown patch type: {} in map: {}", go_value(directive), go_map(map)))
    }

    pub(super) fn wrong_type(wanted: &str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "%!s(<nil>)",
            Value::Bool(_) => "bool",
            Value::Number(number) if number.is_i64() => "int64",
            Value::Number(_) => "float64",
            Value::String(_) => "string",
            Value::Array(_) => "[]interface {}",
            Value::Object(_) => "map[string]interface {}",
        };
        Self::Unfit(format!("expected a {wanted}, but received a {found}"))
    }
}

/// A map as Go prints it with `%v`.
fn go_map(map: &Map<String, Value>) -> String {
    let fields: Vec<String> = map.iter().map(|(name, value)| format!("{name}:{}", go_value(value))).collect();
    format!("map[{}]", fields.join(" "))
}

pub(super) fn go_list(items: &[Value]) -> String {
    format!("[{}]", items.iter().map(go_value).collect::<Vec<_>>().join(" "))
}

fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => go_list(items),
        Value::Object(fields) => go_map(fields),
        other => other.to_string(),
    }
}

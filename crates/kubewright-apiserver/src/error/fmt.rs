//! Values as Go's `fmt` prints them, since messages show them.

use crate::value::{Map, Value};

/// A value by `%v`.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Number(number) if !number.is_i64() && !number.is_u64() => {
            number.as_f64().map_or_else(|| number.to_string(), float)
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => text.to_string(),
        Value::Array(items) => list(items),
        Value::Object(fields) => map(fields),
    }
}

/// A list by `%v`.
pub(crate) fn list(items: &[Value]) -> String {
    format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(" "))
}

/// A map by `%v`.
pub(crate) fn map(fields: &Map) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, field)| format!("{name}:{}", value(field))).collect();
    format!("map[{}]", fields.join(" "))
}

/// A floating-point number by `%v`: `1`, `0.5`, `1e+21`.
pub(crate) fn float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return value.to_string() };
    let power: i32 = exponent.parse().unwrap_or_default();
    if (-4..21).contains(&power) {
        return value.to_string();
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

/// The type of a decoded value by `%T`.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => LIST,
        Value::Object(_) => MAP,
    }
}

/// The types of decoded lists and maps.
pub(crate) const LIST: &str = "[]interface {}";
pub(crate) const MAP: &str = "map[string]interface {}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn floats_print_as_in_go() {
        for (value, text) in [
            (1.0, "1"),
            (0.5, "0.5"),
            (-2.25, "-2.25"),
            (1e21, "1e+21"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
            (123_456_789.0, "123456789"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn values_and_their_types_print_as_in_go() {
        for (shown, text, type_of) in [
            (json!(null), "<nil>", "<nil>"),
            (json!(true), "true", "bool"),
            (json!(7), "7", "int64"),
            (json!(1e21), "1e+21", "float64"),
            (json!("a b"), "a b", "string"),
            (json!([1, "a"]), "[1 a]", "[]interface {}"),
            (json!({"a": {"b": []}}), "map[a:map[b:[]]]", "map[string]interface {}"),
        ] {
            assert_eq!((&*value(&shown), type_name(&shown)), (text, type_of));
        }
    }
}

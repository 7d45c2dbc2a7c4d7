//! A label selector of an object, as people and clients read it.

use crate::value::Value;

/// A label selector as text, in the order of the labels.
///
/// Source: apimachinery `metav1.FormatLabelSelector`.
pub(crate) fn selector_text(selector: &Value) -> String {
    if let Some(text) = selector.as_str() {
        return text.to_owned();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    // The oldest kinds have nothing but labels.
    let is_plain = selector.as_object().is_some_and(|fields| fields.values().all(Value::is_string));
    let labels = if is_plain { selector } else { &selector["matchLabels"] };
    let labels = labels.as_object().into_iter().flatten();
    let labels = labels.map(|(label, value)| format!("{label}={}", text(value)));
    let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    let expressions = expressions.map(|expression| {
        let values: Vec<String> = expression["values"].as_array().into_iter().flatten().map(text).collect();
        let (key, values) = (text(&expression["key"]), values.join(","));
        match text(&expression["operator"]).as_str() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key,
        }
    });
    labels.chain(expressions).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn selectors_read_as_text() {
        let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": [
            {"key": "c", "operator": "In", "values": ["d", "e"]}, {"key": "f", "operator": "DoesNotExist"}]});
        assert_eq!(selector_text(&selector), "a=b,c in (d,e),!f");
        assert_eq!(selector_text(&json!("x=y")), "x=y");
        assert_eq!(selector_text(&json!({"a": "b", "c": "d"})), "a=b,c=d");
        assert_eq!(selector_text(&json!({})), "");
    }
}

//! What differs between two documents, as a JSON patch (RFC 6902).

use serde_json::{Value, json};

/// The operations that make `after` of `before`; none if they are equal.
///
/// Elements of lists are compared by place: those that changed are patched, and the tail is added or removed.
pub(super) fn between(before: &Value, after: &Value) -> Vec<Value> {
    let mut operations = Vec::new();
    compare(&mut String::new(), before, after, &mut operations);
    operations
}

fn compare(path: &mut String, before: &Value, after: &Value, operations: &mut Vec<Value>) {
    match (before, after) {
        _ if before == after => {}
        (Value::Object(before), Value::Object(after)) => {
            for name in before.keys().filter(|name| !after.contains_key(*name)) {
                at(path, name, |path| operations.push(json!({"op": "remove", "path": path})));
            }
            for (name, value) in after {
                at(path, name, |path| match before.get(name) {
                    Some(before) => compare(path, before, value, operations),
                    None => operations.push(json!({"op": "add", "path": path, "value": value})),
                });
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                at(path, &index.to_string(), |path| compare(path, before, after, operations));
            }
            // From the end, so that the places of the others stay.
            for index in (after.len()..before.len()).rev() {
                operations.push(json!({"op": "remove", "path": format!("{path}/{index}")}));
            }
            for value in after.iter().skip(before.len()) {
                operations.push(json!({"op": "add", "path": format!("{path}/-"), "value": value}));
            }
        }
        _ => operations.push(json!({"op": "replace", "path": path, "value": after})),
    }
}

/// Goes one step down, and back.
fn at(path: &mut String, step: &str, then: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(&step.replace('~', "~0").replace('/', "~1"));
    then(path);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &Value, after: &Value, operations: &Value) {
        assert_eq!(Value::from(between(before, after)), *operations);
    }

    #[test]
    fn a_patch_names_what_changed_and_nothing_else() {
        check(&json!({"a": 1}), &json!({"a": 1}), &json!([]));
        check(
            &json!({"a": 1, "b": {"c": 1, "d": 2}}),
            &json!({"b": {"c": 3, "d": 2, "e/f~": 4}}),
            &json!([
                {"op": "remove", "path": "/a"},
                {"op": "replace", "path": "/b/c", "value": 3},
                {"op": "add", "path": "/b/e~1f~0", "value": 4},
            ]),
        );
    }

    #[test]
    fn lists_are_patched_by_place() {
        check(
            &json!([1, {"a": 1}, 3, 4]),
            &json!([1, {"a": 2}]),
            &json!([
                {"op": "replace", "path": "/1/a", "value": 2},
                {"op": "remove", "path": "/3"},
                {"op": "remove", "path": "/2"},
            ]),
        );
        check(&json!({"l": [1]}), &json!({"l": [1, 2]}), &json!([{"op": "add", "path": "/l/-", "value": 2}]));
    }
}

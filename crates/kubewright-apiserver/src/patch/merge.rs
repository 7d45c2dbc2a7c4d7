//! JSON merge patch (RFC 7386).

use crate::value::{Map, Value};

/// Merges `patch` into `target`: null takes away, objects are merged, everything else replaces.
pub(crate) fn merge_patch(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(target) = target.as_object_mut() else { return };
    for (field, value) in patch {
        if value.is_null() {
            target.remove(&field);
        } else {
            merge_patch(target.entry(field).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    /// The cases of RFC 7386, appendix A.
    #[test]
    fn cases_of_the_rfc() {
        for (original, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"a": "foo"}), json!(null), json!(null)),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let mut target = original.clone();
            merge_patch(&mut target, patch.clone());
            assert_eq!(target, expected, "{original} + {patch}");
        }
    }

    #[test]
    fn integers_stay_exact() {
        let mut target = json!({});
        merge_patch(&mut target, json!({"n": 9_007_199_254_740_993_i64}));
        assert_eq!(target.to_string(), r#"{"n":9007199254740993}"#);
    }
}

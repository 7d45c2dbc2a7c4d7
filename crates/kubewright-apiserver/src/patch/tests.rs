//! JSON patches, against what evanphx/json-patch v4.13 does.

#![allow(clippy::needless_pass_by_value, reason = "rows of tables read better without ampersands")]

use proptest::prelude::*;

use super::{JsonPatch, JsonPatchError, merge_patch};
use crate::value::{Value, json};

fn apply(target: &Value, patch: &Value) -> Result<Value, JsonPatchError> {
    let mut changed = target.clone();
    JsonPatch::read(patch.to_string().as_bytes())?.apply(&mut changed)?;
    Ok(changed)
}

#[track_caller]
fn check(target: Value, patch: Value, expected: Value) {
    assert_eq!(apply(&target, &patch).unwrap(), expected, "{target} + {patch}");
}

#[track_caller]
fn refuse(target: Value, patch: Value, message: &str) {
    assert_eq!(apply(&target, &patch).unwrap_err().to_string(), message, "{target} + {patch}");
}

#[test]
fn operations_do_what_upstream_does() {
    let op = |op: &str, path: &str, value: Value| json!([{"op": op, "path": path, "value": value}]);
    let from = |op: &str, from: &str, path: &str| json!([{"op": op, "from": from, "path": path}]);
    check(json!({"a": [1, 3]}), op("add", "/a/1", json!(2)), json!({"a": [1, 2, 3]}));
    check(json!({"a": [1]}), op("add", "/a/-", json!(2)), json!({"a": [1, 2]}));
    check(json!({"a": [1]}), op("add", "/a/-1", json!(2)), json!({"a": [1, 2]}));
    check(json!({"a": [1]}), op("add", "/a/-2", json!(2)), json!({"a": [2, 1]}));
    check(json!({"a": {"b/c~": 1}}), op("add", "/a/b~1c~0", json!(2)), json!({"a": {"b/c~": 2}}));
    check(json!({}), json!([{"op": "add", "path": "/a"}]), json!({"a": null}));
    check(json!({"a": [1, 2]}), json!([{"op": "remove", "path": "/a/-1"}]), json!({"a": [1]}));
    check(json!({"a": [1, 2]}), op("replace", "/a/-1", json!(3)), json!({"a": [1, 3]}));
    check(json!({}), op("replace", "/a", json!(1)), json!({"a": 1}));
    check(json!({"a": 1}), op("replace", "", json!({"b": 1})), json!({"b": 1}));
    check(json!({"a": {"b": 1}}), from("move", "/a/b", "/c"), json!({"a": {}, "c": 1}));
    check(json!({"a": [1, 2]}), from("move", "/a/0", "/a/1"), json!({"a": [2, 1]}));
    check(json!({"a": {"b": 1}}), from("copy", "/a", "/c"), json!({"a": {"b": 1}, "c": {"b": 1}}));
    check(json!({}), from("copy", "/nope", "/c"), json!({"c": null}));
    check(json!({"a": 1}), op("test", "", json!({"a": 1})), json!({"a": 1}));
}

#[test]
fn absent_and_null_are_one_to_a_test() {
    let test = |value: Value| json!([{"op": "test", "path": "/a", "value": value}]);
    let bare = json!([{"op": "test", "path": "/a"}]);
    check(json!({}), test(json!(null)), json!({}));
    check(json!({}), bare.clone(), json!({}));
    check(json!({"a": null}), test(json!(null)), json!({"a": null}));
    refuse(json!({}), test(json!(1)), "testing value /a failed: test failed");
    refuse(json!({"a": 1}), test(json!(null)), "testing value /a failed: test failed");
    refuse(json!({"a": 1}), bare, "testing value /a failed: test failed");
}

#[test]
fn refusals_read_as_upstreams() {
    let op = |op: &str, path: &str| json!([{"op": op, "path": path, "value": 1}]);
    let from = |op: &str, from: &str, path: &str| json!([{"op": op, "from": from, "path": path}]);
    for (target, patch, message) in [
        (
            json!({}),
            op("add", "/a/b"),
            "add operation does not apply: doc is missing path: \"/a/b\": missing value",
        ),
        (
            json!({}),
            op("add", "a"),
            "add operation does not apply: doc is missing path: \"a\": missing value",
        ),
        (
            json!({"a": []}),
            op("add", "/a/1"),
            "error in add for path: '/a/1': Unable to access invalid index: 1: invalid index referenced",
        ),
        (
            json!({"a": []}),
            op("add", "/a/x"),
            "error in add for path: '/a/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        (
            json!({}),
            op("remove", "/a"),
            "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value",
        ),
        (
            json!({"a": []}),
            op("replace", "/a/0"),
            "replace operation does not apply: doc is missing key: /a/0: missing value",
        ),
        (json!({}), op("replace", ""), "replace operation value must be object or array"),
        (
            json!({}),
            from("move", "/a", "/b"),
            "error in move for path: 'a': Unable to remove nonexistent key: a: missing value",
        ),
        (
            json!({"a": {"b": 1}}),
            from("move", "/a", "/a/b"),
            "move operation does not apply: doc is missing destination path: /a/b: missing value",
        ),
        (
            json!({}),
            json!([{"op": "move", "path": "/a"}]),
            "move operation failed to decode from: operation, missing from field: missing value",
        ),
        (
            json!({}),
            json!([{"op": "test"}]),
            "test operation failed to decode path: operation missing path field: missing value",
        ),
        (json!({}), json!([{"path": "/a"}]), "Unexpected kind: unknown"),
        (json!({}), op("merge", "/a"), "Unexpected kind: merge"),
        (json!({}), json!([null]), "Unexpected kind: unknown"),
    ] {
        refuse(target, patch, message);
    }
    assert!(matches!(apply(&json!({}), &json!({"a": 1})), Err(JsonPatchError::Malformed(_))));
    assert!(matches!(
        apply(&json!({}), &json!([{"op": "add", "path": 1}])),
        Err(JsonPatchError::Malformed(_))
    ));
}

#[test]
fn numbers_of_operations_are_limited() {
    let patch = |count: usize| Value::from(vec![json!({"op": "add", "path": "/a"}); count]);
    check(json!({}), patch(10_000), json!({"a": null}));
    refuse(json!({}), patch(10_001), "The allowed maximum operations in a JSON patch is 10000, got 10001");
}

#[test]
fn copies_have_a_budget() {
    let doubling =
        |count: usize| Value::from(vec![json!({"op": "copy", "from": "/a", "path": "/a/-"}); count]);
    let target = json!({"a": ["x".repeat(1000)]});
    let failed = apply(&target, &doubling(30)).unwrap_err().to_string();
    let budget = "Unable to complete the copy, the accumulated size increase of copy is ";
    assert!(failed.starts_with(budget) && failed.ends_with(", exceeding the limit 3145728"), "{failed}");
}

#[test]
fn no_operation_leads_below_the_depth_limit() {
    let into = json!([{"op": "copy", "from": "/a", "path": "/a/a"}]);
    let mut patch = Vec::new();
    for _ in 0..10_000 {
        patch.extend(into.as_array().cloned().unwrap_or_default());
    }
    refuse(json!({"a": {}}), Value::from(patch), "exceeded max depth");
    let deeper = |index: usize| json!({"op": "add", "path": "/a".repeat(index), "value": {}});
    refuse(json!({}), (1..=200).map(deeper).collect(), "exceeded max depth");
    // Moving deep things to and fro.
    let chain = (0..90).fold(json!({}), |inner, _| json!({"a": inner}));
    let holder = (0..20).fold(json!({}), |inner, _| json!({"b": inner}));
    let target = json!({"a": chain, "b": holder});
    let patch = json!([{"op": "move", "from": "/a", "path": format!("{}/c", "/b".repeat(20))}]);
    refuse(target, patch, "exceeded max depth");
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i8>().prop_map(|number| i64::from(number).into()),
        "[ab]".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[ab0]", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn operations() -> impl Strategy<Value = Value> {
    let path = "(/([ab0]|-|-1|1)){0,3}";
    let op = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test", "x"]);
    (op, path, path, values())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
}

proptest! {
    #[test]
    fn patches_never_panic_and_never_lie(
        target in values(),
        patch in prop::collection::vec(operations(), 0..12),
    ) {
        let mut changed = target.clone();
        let patch = JsonPatch::read(Value::from(patch).to_string().as_bytes()).unwrap();
        let first = patch.apply(&mut changed).is_ok();
        let mut again = target;
        prop_assert_eq!(patch.apply(&mut again).is_ok(), first);
        prop_assert_eq!(again, changed);
    }

    #[test]
    fn what_was_added_passes_a_test(target in values(), value in values()) {
        prop_assume!(target.is_object());
        let patch = json!([{"op": "add", "path": "/a", "value": value}, {"op": "test", "path": "/a", "value": value}]);
        prop_assert!(apply(&target, &patch).is_ok());
    }

    #[test]
    fn merging_twice_is_merging_once(target in values(), patch in values()) {
        let mut once = target;
        merge_patch(&mut once, patch.clone());
        let mut twice = once.clone();
        merge_patch(&mut twice, patch);
        prop_assert_eq!(once, twice);
    }
}

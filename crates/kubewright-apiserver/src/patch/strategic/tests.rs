#![allow(clippy::needless_pass_by_value, reason = "cases are values")]

use proptest::{collection::vec, prelude::*};

use super::{Facts, strategic_merge_patch};
use crate::value::{Map, Value, json};

fn map(value: Value) -> Map {
    let Value::Object(map) = value else { panic!("{value} is an object") };
    map
}

/// Patches the spec of a pod.
fn patched(spec: Value, patch: Value) -> Result<Value, String> {
    let facts = Facts::of("v1", "Pod");
    let patched = strategic_merge_patch(map(json!({"spec": spec})), map(json!({"spec": patch})), facts);
    patched.map(|mut patched| patched.remove("spec").unwrap()).map_err(|error| error.to_string())
}

#[track_caller]
fn check(spec: Value, patch: Value, expected: Value) {
    assert_eq!(patched(spec, patch), Ok(expected));
}

#[track_caller]
fn refused(spec: Value, patch: Value, problem: &str) {
    assert_eq!(patched(spec, patch), Err(problem.to_owned()));
}

fn containers(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name, "image": "i"})).collect()
}

fn names(spec: &Value, field: &str) -> Vec<String> {
    spec[field].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn objects_merge_and_null_removes() {
    check(
        json!({"a": 1, "b": {"c": 1, "d": 2}}),
        json!({"b": {"c": null, "e": 3}, "f": null}),
        json!({"a": 1, "b": {"d": 2, "e": 3}}),
    );
    check(json!({"a": 1}), json!({"a": {"b": null, "c": 1}}), json!({"a": {"c": 1}}));
    check(
        json!({"nodeSelector": {"a": "1"}}),
        json!({"nodeSelector": {"$patch": "replace", "b": "2"}}),
        json!({"nodeSelector": {"b": "2"}}),
    );
    check(
        json!({"nodeSelector": {"a": "1"}}),
        json!({"nodeSelector": {"$patch": "delete"}}),
        json!({"nodeSelector": {}}),
    );
    refused(
        json!({}),
        json!({"$patch": "improve"}),
        "unknown patch type: improve in map: map[$patch:improve]",
    );
}

#[test]
fn items_merge_by_their_key() {
    check(
        json!({"containers": [{"name": "a", "image": "1", "args": ["x"]}, {"name": "b", "image": "2"}]}),
        json!({"containers": [{"name": "b", "image": "3"}, {"name": "c"}]}),
        json!({"containers": [{"name": "a", "image": "1", "args": ["x"]}, {"name": "b", "image": "3"}, {"name": "c"}]}),
    );
    check(
        json!({"containers": [{"name": "a", "ports": [{"containerPort": 1, "name": "x"}, {"containerPort": 2}]}]}),
        json!({"containers": [{"name": "a", "ports": [{"containerPort": 2, "name": "y"}], "args": ["z"]}]}),
        json!({"containers": [{"name": "a", "ports": [{"containerPort": 1, "name": "x"}, {"containerPort": 2, "name": "y"}], "args": ["z"]}]}),
    );
    check(
        json!({"tolerations": [{"key": "a"}]}),
        json!({"tolerations": [{"key": "b"}]}),
        json!({"tolerations": [{"key": "b"}]}),
    );
    check(
        json!({"containers": containers(&["a", "b", "c"])}),
        json!({"containers": [{"$patch": "delete", "name": "b"}]}),
        json!({"containers": containers(&["a", "c"])}),
    );
    check(
        json!({"containers": containers(&["a", "b"])}),
        json!({"containers": [{"$patch": "replace"}, {"name": "z"}]}),
        json!({"containers": [{"name": "z"}]}),
    );
    refused(
        json!({"containers": containers(&["a"])}),
        json!({"containers": [{"image": "x"}]}),
        "map: map[image:x] does not contain declared merge key: name",
    );
    refused(
        json!({"containers": containers(&["a"])}),
        json!({"containers": ["x"]}),
        "list element types are not identical: [[map[image:i name:a]] [x]]",
    );
}

#[test]
fn primitive_lists_are_sets() {
    let metadata = |finalizers: Value, patch: Value| {
        let facts = Facts::of("v1", "Pod");
        let target = map(json!({"metadata": {"finalizers": finalizers}}));
        let merged = strategic_merge_patch(target, map(json!({"metadata": patch})), facts).unwrap();
        Value::Object(merged)["metadata"]["finalizers"].clone()
    };
    assert_eq!(metadata(json!(["a", "b"]), json!({"finalizers": ["c", "b"]})), json!(["c", "a", "b"]));
    assert_eq!(
        metadata(json!(["a", "b", "c"]), json!({"$deleteFromPrimitiveList/finalizers": ["b", "x"]})),
        json!(["a", "c"])
    );
    assert_eq!(
        metadata(json!(["a", "b"]), json!({"$setElementOrder/finalizers": ["b", "a"]})),
        json!(["b", "a"])
    );
    assert_eq!(
        metadata(
            json!(["a", "b"]),
            json!({"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]})
        ),
        json!(["c", "b"])
    );
    refused(json!({}), json!({"$deleteFromPrimitiveList": ["a"]}), "invalid patch format of primitive list");
}

#[test]
fn only_retained_keys_stay() {
    check(
        json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
        json!({"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}]}),
        json!({"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}),
    );
    refused(json!({}), json!({"$retainKeys": ["a"], "b": 1}), "invalid patch format of retainKeys");
    refused(json!({}), json!({"$retainKeys": "a"}), "invalid patch format of retainKeys");
}

#[test]
fn order_is_that_of_the_patch_and_others_stay_near() {
    let order = |names: &[&str]| -> Value { names.iter().map(|name| json!({"name": name})).collect() };
    for (before, wanted, patch, after) in [
        (&["a", "b", "c"][..], &["c", "a"][..], &[][..], &["b", "c", "a"][..]),
        (&["a", "b", "c"], &["a", "x", "c"], &["x"], &["a", "x", "b", "c"]),
        (&["a", "b"], &["x", "a"], &["x", "a"], &["x", "a", "b"]),
    ] {
        let patch = json!({"$setElementOrder/containers": order(wanted), "containers": order(patch)});
        let spec = patched(json!({"containers": containers(before)}), patch).unwrap();
        assert_eq!(names(&spec, "containers"), after, "{before:?} as {wanted:?}");
    }
    let patch = json!({"$setElementOrder/containers": order(&["a"]), "containers": order(&["b"])});
    let error = patched(json!({"containers": containers(&["a"])}), patch).unwrap_err();
    assert!(
        error.starts_with("The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:"),
        "{error}"
    );
}

fn specs() -> impl Strategy<Value = Value> {
    let item = ("[abc]", 0..3_i64).prop_map(|(name, size)| json!({"name": name, "size": size}));
    let distinct = vec(item, 0..4).prop_map(|mut items| {
        items.sort_by_key(|item| item["name"].to_string());
        items.dedup_by_key(|item| item["name"].clone());
        items
    });
    (distinct, vec("[abc]", 0..3))
        .prop_map(|(containers, args)| json!({"containers": containers, "args": args}))
}

proptest! {
    #[test]
    fn a_patch_of_values_applied_twice_is_applied_once(spec in specs(), patch in specs()) {
        let once = patched(spec, patch.clone()).unwrap();
        prop_assert_eq!(patched(once.clone(), patch), Ok(once));
    }

    #[test]
    fn everything_that_a_patch_says_is_there(spec in specs(), patch in specs()) {
        let merged = patched(spec, patch.clone()).unwrap();
        for item in patch["containers"].as_array().unwrap() {
            prop_assert!(merged["containers"].as_array().unwrap().contains(item));
        }
        prop_assert_eq!(&merged["args"], &patch["args"]);
    }

    #[test]
    fn an_empty_patch_changes_nothing(spec in specs()) {
        prop_assert_eq!(patched(spec.clone(), json!({})), Ok(spec));
    }
}

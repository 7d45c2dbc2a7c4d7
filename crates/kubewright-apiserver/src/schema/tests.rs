//! What holds for every schema and every object.

#![allow(clippy::needless_pass_by_value, reason = "cases are values")]

use proptest::{collection::vec, prelude::*};

use super::{Schema, prune_metadata};
use crate::value::{Map, Path, Value, json};

fn map(value: Value) -> Map {
    let Value::Object(map) = value else { panic!("{value} is an object") };
    map
}

fn compile(definition: Value) -> Schema {
    Schema::compile(&definition)
}

#[track_caller]
fn check_pruned(definition: Value, object: Value, pruned: Value, dropped: &[&str]) {
    let mut object = map(object);
    assert_eq!(compile(definition).prune(&mut object), dropped);
    assert_eq!(Value::Object(object), pruned);
}

#[test]
fn unknown_fields_go_and_are_named() {
    let text = json!({"type": "string"});
    let spec = |of: Value| json!({"type": "object", "properties": {"spec": of}});
    check_pruned(
        spec(json!({"type": "object", "properties": {"a": text}})),
        json!({"kind": "K", "metadata": {"x": 1}, "spec": {"a": "1", "b": {"c": 1}}, "other": 1}),
        json!({"kind": "K", "metadata": {"x": 1}, "spec": {"a": "1"}}),
        &["other", "spec.b"],
    );
    check_pruned(
        spec(json!({"type": "array", "items": {"type": "object", "properties": {"a": text}}})),
        json!({"spec": [{"a": "1"}, {"b": 1}, 7]}),
        json!({"spec": [{"a": "1"}, {}, 7]}),
        &["spec[1].b"],
    );
    check_pruned(
        spec(
            json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"a": text}}}),
        ),
        json!({"spec": {"x.y": {"a": "1", "b": 2}}}),
        json!({"spec": {"x.y": {"a": "1"}}}),
        &["spec.x.y.b"],
    );
    check_pruned(
        spec(json!({"type": "object", "additionalProperties": true})),
        json!({"spec": {"a": 1, "b": {"c": 1}}}),
        json!({"spec": {"a": 1, "b": {}}}),
        &["spec.b.c"],
    );
}

#[test]
fn unknown_fields_stay_where_they_are_preserved() {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
        "closed": {"type": "object", "properties": {"a": {}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
    }});
    check_pruned(
        json!({"type": "object", "properties": {"spec": open}}),
        json!({"spec": {"any": {"x": [{"y": 1}]}, "closed": {"a": 1, "b": 2}, "list": [{"a": 1, "b": 2}]}}),
        json!({"spec": {"any": {"x": [{"y": 1}]}, "closed": {"a": 1}, "list": [{"a": 1}]}}),
        &["spec.closed.b", "spec.list[0].b"],
    );
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}});
    check_pruned(
        json!({"type": "object", "properties": {"template": embedded}}),
        json!({"template": {"apiVersion": "v1", "kind": "K", "metadata": {"name": "n"}, "spec": {"a": 1}, "data": 1}}),
        json!({"template": {"apiVersion": "v1", "kind": "K", "metadata": {"name": "n"}, "spec": {}}}),
        &["template.data", "template.spec.a"],
    );
}

#[test]
fn metadata_keeps_the_fields_that_it_has() {
    let mut metadata = map(json!({
        "name": "n", "labels": {"a": "b"}, "color": "red", "ownerReferences": [{"name": "o", "size": 1}],
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
    }));
    let dropped = prune_metadata(&mut metadata, &Path::Root.child("metadata"));
    assert_eq!(dropped, ["metadata.color", "metadata.ownerReferences[0].size"]);
    assert_eq!(Value::Object(metadata)["managedFields"][0]["fieldsV1"], json!({"f:spec": {}}));
}

#[test]
fn embedded_objects_are_objects() {
    let schema = compile(json!({"type": "object", "properties": {
        "template": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
    }}));
    let mut object =
        map(json!({"template": {"kind": "K", "apiVersion": "v1", "metadata": {"name": "n", "size": 1}}}));
    assert_eq!(schema.coerce_embedded(&mut object).unwrap(), ["template.metadata.size"]);
    for (metadata, problem) in [
        (
            json!({"labels": {"a": 1}}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        ),
        (
            json!({"ownerReferences": [{"name": 1}]}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.ownerReferences.name of type string",
        ),
        (
            json!({"finalizers": "a"}),
            "json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string",
        ),
    ] {
        let mut object = map(json!({"template": {"metadata": metadata}}));
        let found = schema.coerce_embedded(&mut object).unwrap_err().to_string();
        assert!(
            found.starts_with("template.metadata: Invalid value: ") && found.ends_with(problem),
            "{found}"
        );
    }
    let wrong = map(json!({"template": {"apiVersion": "a/b/c"}}));
    let texts: Vec<String> = schema.validate_embedded(&wrong).iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "template.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
            "template.kind: Required value",
        ]
    );
}

#[test]
fn defaults_fill_what_is_absent() {
    let schema = compile(json!({"type": "object", "properties": {
        "a": {"type": "object", "default": {}, "properties": {"b": {"type": "string", "default": "x"}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"c": {"default": 1}}}},
        "nulls": {"type": "array", "items": {"type": "string", "default": "d"}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "default": {"e": 1}, "properties": {"f": {"default": 2}}}},
        "open": {"type": "string", "nullable": true, "default": "x"},
        "gone": {"type": "string"},
    }}));
    let mut object = map(
        json!({"list": [{}, {"c": 2}], "nulls": [null, "z"], "map": {"k": null}, "open": null, "gone": null, "free": null}),
    );
    schema.drop_nulls(&mut object);
    schema.default(&mut object);
    assert_eq!(
        Value::Object(object),
        json!({
            "a": {"b": "x"}, "list": [{"c": 1}, {"c": 2}], "nulls": ["d", "z"], "map": {"k": {"e": 1, "f": 2}}, "open": null,
            "free": null,
        })
    );
}

#[test]
fn what_has_to_differ_is_found_once_each() {
    let list = |kind: &str, keys: Value| json!({"type": "array", "x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": keys, "items": {"type": "object"}});
    let schema = compile(json!({"type": "object", "properties": {
        "set": list("set", json!([])), "one": list("map", json!(["k"])), "two": list("map", json!(["k", "l"])),
        "atomic": list("atomic", json!([])),
    }}));
    let check = |object: Value, problems: &[&str]| {
        let texts: Vec<String> = schema.duplicates(&map(object)).iter().map(ToString::to_string).collect();
        assert_eq!(texts, problems);
    };
    check(json!({"set": [1, "1", 2], "atomic": [1, 1]}), &[]);
    check(
        json!({"set": [1, 1, 1, {"a": 1}, {"a": 1}]}),
        &["set[1]: Duplicate value: 1", "set[4]: Duplicate value: {\"a\":1}"],
    );
    check(
        json!({"one": [{"k": "a"}, {"k": "b"}, {"k": "a", "l": 1}, {}, {}]}),
        &["one[2]: Duplicate value: {\"k\":\"a\"}", "one[4]: Duplicate value: {}"],
    );
    check(
        json!({"two": [{"k": "a", "l": 1}, {"k": "a", "l": 2}, {"k": "a", "l": 1}]}),
        &["two[2]: Duplicate value: {\"k\":\"a\",\"l\":1}"],
    );
    check(
        json!({"one": [1]}),
        &["one[0]: Invalid value: 1: must be an object for an array of list-type map"],
    );
}

/// Any small value, of few names, so that schemas and values meet.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..3_i64).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec(("[abc]", inner), 0..3).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn objects() -> impl Strategy<Value = Map> {
    vec(("[abc]", values()), 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "maxLength": 1})),
        Just(json!({"type": "string", "default": "a", "enum": ["a", "b"]})),
        Just(json!({"type": "integer", "nullable": true, "minimum": 0, "multipleOf": 2})),
        Just(json!({"type": "boolean", "default": true})),
        Just(json!({"x-kubernetes-int-or-string": true, "not": {"enum": [1]}})),
        Just(json!({"x-kubernetes-preserve-unknown-fields": true})),
    ];
    let node = leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["atomic", "set", "map"])).prop_map(|(items, list)| {
                json!({"type": "array", "items": items, "x-kubernetes-list-type": list, "x-kubernetes-list-map-keys": ["a"]})
            }),
            inner.clone().prop_map(|inner| json!({"type": "object", "additionalProperties": inner})),
            (vec(("[abc]", inner), 0..3), any::<bool>(), any::<bool>()).prop_map(|(properties, preserves, has_default)| {
                let properties: Map = properties.into_iter().collect();
                let mut schema = json!({"type": "object", "properties": properties, "required": ["a"],
                    "x-kubernetes-preserve-unknown-fields": preserves, "anyOf": [{"required": ["b"]}, {"minProperties": 1}]});
                if has_default {
                    schema["default"] = json!({});
                }
                schema
            }),
        ]
    });
    vec(("[abc]", node), 0..4).prop_map(|properties| {
        let properties: Map = properties.into_iter().collect();
        json!({"type": "object", "properties": properties})
    })
}

proptest! {
    #[test]
    fn pruning_and_filling_in_twice_is_doing_so_once(definition in schemas(), mut object in objects()) {
        let schema = Schema::compile(&definition);
        let coerce = |object: &mut Map| {
            let dropped = schema.prune(object);
            schema.drop_nulls(object);
            schema.default(object);
            dropped
        };
        coerce(&mut object);
        let once = object.clone();
        prop_assert_eq!(coerce(&mut object), Vec::<String>::new());
        prop_assert_eq!(object, once);
    }

    #[test]
    fn pruning_only_takes_away(definition in schemas(), object in objects()) {
        let mut pruned = object.clone();
        let dropped = Schema::compile(&definition).prune(&mut pruned);
        prop_assert_eq!(dropped.is_empty(), pruned == object);
        prop_assert!(is_part(&Value::Object(pruned), &Value::Object(object)));
    }

    #[test]
    fn an_object_may_take_its_own_place(definition in schemas(), object in objects()) {
        let object = Value::Object(object);
        prop_assert!(Schema::compile(&definition).validate_update(&object, &object).is_empty());
    }

    #[test]
    fn a_change_is_no_worse_than_a_new_object(definition in schemas(), new in objects(), old in objects()) {
        let (schema, new, old) = (Schema::compile(&definition), Value::Object(new), Value::Object(old));
        let all = schema.validate(&new);
        for problem in schema.validate_update(&new, &old) {
            prop_assert!(all.contains(&problem), "{}", problem);
        }
    }
}

fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|whole| is_part(part, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| is_part(part, whole))
        }
        _ => part == whole,
    }
}

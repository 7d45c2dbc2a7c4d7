#![allow(clippy::needless_pass_by_value, reason = "cases are values")]

use crate::{
    schema::Schema,
    value::{Value, json},
};

/// Holds `value` against the schema of the field `x` of an object.
#[track_caller]
fn check(schema: Value, value: Value, problems: &[&str]) {
    let schema = Schema::compile(&json!({"type": "object", "properties": {"x": schema}}));
    let found: Vec<String> = schema.validate(&json!({"x": value})).iter().map(ToString::to_string).collect();
    assert_eq!(found, problems, "{value}");
}

#[test]
fn types_are_told_as_upstream_tells_them() {
    let wrong = |wanted: &str, found: &str| {
        format!("x: Invalid value: \"{found}\": x in body must be of type {wanted}: \"{found}\"")
    };
    for (kind, good, bad, found) in [
        ("string", json!("a"), json!(1), "integer"),
        ("integer", json!(1), json!("a"), "string"),
        ("integer", json!(1.0), json!(1.5), "number"),
        ("number", json!(1), json!(true), "boolean"),
        ("boolean", json!(false), json!({}), "object"),
        ("object", json!({}), json!([]), "array"),
        ("string", json!(""), json!(null), "null"),
    ] {
        check(json!({"type": kind}), good, &[]);
        let also = if bad == json!(1.5) {
            vec!["<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in x"]
        } else {
            vec![]
        };
        let text = wrong(kind, found);
        check(json!({"type": kind}), bad, &[&[text.as_str()][..], &also].concat());
    }
    check(
        json!({"type": "array", "items": {"type": "integer"}}),
        json!([1, "a"]),
        &["x[1]: Invalid value: \"string\": x[1] in body must be of type integer: \"string\""],
    );
    check(json!({"type": "string", "nullable": true}), json!(null), &[]);
    let int_or_string = json!({"x-kubernetes-int-or-string": true});
    check(int_or_string.clone(), json!("10%"), &[]);
    check(int_or_string.clone(), json!(10), &[]);
    check(int_or_string, json!(true), &[&wrong("integer,string", "boolean")]);
    check(json!({"x-kubernetes-preserve-unknown-fields": true}), json!([1, {"a": null}]), &[]);
}

#[test]
fn texts_are_told_as_upstream_tells_them() {
    check(
        json!({"type": "string", "maxLength": 2}),
        json!("äöü"),
        &["x: Too long: may not be more than 2 bytes"],
    );
    check(json!({"type": "string", "maxLength": 3}), json!("äöü"), &[]);
    check(
        json!({"type": "string", "minLength": 2}),
        json!("a"),
        &["x: Invalid value: \"a\": x in body should be at least 2 chars long"],
    );
    check(
        json!({"type": "string", "pattern": "^a+$"}),
        json!("b"),
        &["x: Invalid value: \"b\": x in body should match '^a+$'"],
    );
    check(
        json!({"type": "string", "format": "ipv4"}),
        json!("a"),
        &["x: Invalid value: \"a\": x in body must be of type ipv4: \"a\""],
    );
    check(json!({"type": "string", "format": "unheard-of"}), json!("a"), &[]);
    check(
        json!({"type": "string", "enum": ["a", "b"]}),
        json!("c"),
        &["x: Unsupported value: \"c\": supported values: \"a\", \"b\""],
    );
}

#[test]
fn numbers_are_told_as_upstream_tells_them() {
    for (rule, value, detail) in [
        (json!({"minimum": 1}), json!(0), "greater than or equal to 1"),
        (json!({"minimum": 1, "exclusiveMinimum": true}), json!(1), "greater than 1"),
        (json!({"maximum": 2}), json!(3), "less than or equal to 2"),
        (json!({"maximum": 0.5}), json!(0.75), "less than or equal to 0.5"),
        (json!({"maximum": 2, "exclusiveMaximum": true}), json!(2), "less than 2"),
        (json!({"multipleOf": 3}), json!(4), "a multiple of 3"),
        (json!({"multipleOf": 0.01}), json!(0.015), "a multiple of 0.01"),
    ] {
        let mut schema = rule;
        schema["type"] = "number".into();
        check(schema, value.clone(), &[&format!("x: Invalid value: {value}: x in body should be {detail}")]);
    }
    check(json!({"type": "number", "minimum": 1, "maximum": 2, "multipleOf": 0.5}), json!(1.5), &[]);
    check(
        json!({"type": "integer", "format": "int32"}),
        json!(3_000_000_000_i64),
        &["<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in x"],
    );
    check(
        json!({"type": "integer", "enum": [1, 2]}),
        json!(3),
        &["x: Unsupported value: 3: supported values: \"1\", \"2\""],
    );
    check(json!({"type": "number", "enum": [1.0]}), json!(1), &[]);
}

#[test]
fn containers_are_told_as_upstream_tells_them() {
    check(
        json!({"type": "array", "maxItems": 1, "items": {}}),
        json!([1, 2]),
        &["x: Too many: 2: must have at most 1 item"],
    );
    check(
        json!({"type": "array", "minItems": 2, "items": {}}),
        json!([1]),
        &["x: Invalid value: 1: x in body should have at least 2 items"],
    );
    check(
        json!({"type": "array", "uniqueItems": true}),
        json!([1, 2, 1]),
        &["x: Invalid value: \"\": x in body shouldn't contain duplicates"],
    );
    check(
        json!({"type": "object", "maxProperties": 1}),
        json!({"a": 1, "b": 2}),
        &["x: Too many: 2: must have at most 1 item"],
    );
    check(
        json!({"type": "object", "minProperties": 1}),
        json!({}),
        &["x: Invalid value: 0: x in body should have at least 1 properties"],
    );
    check(json!({"type": "object", "required": ["a", "b"]}), json!({"b": 1}), &["x.a: Required value"]);
    check(
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"a.b/c": 1}),
        &["x.a.b/c: Invalid value: \"integer\": x.a.b/c in body must be of type string: \"integer\""],
    );
    check(
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
        json!({"a": 1, "b": 1}),
        &["x: Invalid value: \"b\": x.b in body is a forbidden property"],
    );
}

#[test]
fn alternatives_are_told_as_upstream_tells_them() {
    let both = json!([{"required": ["a"]}, {"required": ["b"]}]);
    check(json!({"type": "object", "anyOf": both}), json!({"b": 1}), &[]);
    check(
        json!({"type": "object", "anyOf": both}),
        json!({}),
        &[
            "<nil>: Invalid value: \"\": \"x\" must validate at least one schema (anyOf)",
            "x.a: Required value",
        ],
    );
    check(
        json!({"type": "object", "oneOf": both}),
        json!({"a": 1, "b": 1}),
        &[
            "<nil>: Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
        ],
    );
    check(
        json!({"type": "object", "oneOf": both}),
        json!({}),
        &[
            "<nil>: Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). Found none valid",
            "x.a: Required value",
        ],
    );
    check(
        json!({"type": "object", "allOf": both}),
        json!({"a": 1}),
        &["x.b: Required value", "<nil>: Invalid value: \"\": \"x\" must validate all the schemas (allOf)"],
    );
    check(
        json!({"type": "object", "allOf": both}),
        json!({}),
        &[
            "x.a: Required value",
            "x.b: Required value",
            "<nil>: Invalid value: \"\": \"x\" must validate all the schemas (allOf). None validated",
        ],
    );
    check(
        json!({"type": "integer", "not": {"enum": [0]}}),
        json!(0),
        &["<nil>: Invalid value: \"\": \"x\" must not validate the schema (not)"],
    );
}

#[test]
fn what_does_not_change_may_stay_wrong() {
    let item = json!({"type": "object", "properties": {"name": {"type": "string"}, "size": {"maximum": 1, "type": "integer"}}});
    let schema = Schema::compile(&json!({"type": "object", "properties": {
        "a": {"type": "string", "enum": ["good"]},
        "b": {"type": "string", "enum": ["good"]},
        "list": {"type": "array", "items": {"type": "integer", "maximum": 1}},
        "keyed": {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    }}));
    let check = |new: Value, old: Value, fields: &[&str]| {
        let problems = schema.validate_update(&new, &old);
        let found: Vec<String> = problems
            .iter()
            .map(|problem| problem.to_string().split(':').next().unwrap().to_owned())
            .collect();
        assert_eq!(found, fields, "{new} over {old}");
    };
    check(json!({"a": "bad", "b": "good"}), json!({"a": "bad"}), &[]);
    check(json!({"a": "bad", "b": "bad"}), json!({"a": "bad"}), &["b"]);
    check(json!({"a": "worse"}), json!({"a": "bad"}), &["a"]);
    // The items of a list that is one value are not compared one by one.
    check(json!({"list": [9, 1]}), json!({"list": [9]}), &["list[0]"]);
    check(json!({"list": [9], "b": "good"}), json!({"list": [9]}), &[]);
    let keyed = |items: &[(&str, i64)]| {
        let items: Vec<Value> =
            items.iter().map(|(name, size)| json!({"name": name, "size": size})).collect();
        json!({"keyed": items})
    };
    check(keyed(&[("new", 1), ("x", 9)]), keyed(&[("x", 9)]), &[]);
    check(keyed(&[("new", 9), ("x", 9)]), keyed(&[("x", 9)]), &["keyed[0].size"]);
}

#[test]
fn a_status_is_checked_by_its_own_part_of_the_schema() {
    let schema = Schema::compile(&json!({"type": "object", "required": ["spec"], "properties": {
        "status": {"type": "object", "required": ["phase"], "properties": {"size": {"type": "integer"}}},
    }}));
    let problems = schema.validate_status(&json!({"size": "a"}), None);
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "status.size: Invalid value: \"string\": size in body must be of type integer: \"string\"",
            "status.phase: Required value",
        ]
    );
    assert!(Schema::compile(&json!({"type": "object"})).validate_status(&json!(1), None).is_empty());
}

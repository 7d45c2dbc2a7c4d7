#![allow(clippy::needless_pass_by_value, reason = "cases are values")]

use super::check;
use crate::value::{Path, Value, json};

#[track_caller]
fn expect(schema: Value, problems: &[&str]) {
    let root = Path::Root;
    let mut found: Vec<String> =
        check(&schema, false, &root.child("s")).iter().map(ToString::to_string).collect();
    found.sort();
    let mut problems = problems.to_vec();
    problems.sort_unstable();
    assert_eq!(found, problems, "{schema}");
}

/// The schema of one field of `spec`.
fn spec(of: Value) -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": of}}}})
}

const X: &str = "s.properties[spec].properties[x]";

#[track_caller]
fn expect_of_x(schema: Value, problems: &[&str]) {
    let problems: Vec<String> = problems.iter().map(|problem| format!("{X}{problem}")).collect();
    expect(spec(schema), &problems.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn good_schemas_are_taken() {
    for schema in [
        json!({"type": "string", "default": "a", "pattern": "^a$", "enum": ["a"]}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^.*$"}),
        json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"minimum": 1}]}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "object", "additionalProperties": {"type": "string"}, "x-kubernetes-map-type": "atomic"}),
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": [{"required": ["a"]}, {"properties": {"a": {"maxLength": 1}}}]}),
        json!({"x-kubernetes-preserve-unknown-fields": true}),
    ] {
        expect(spec(schema), &[]);
    }
    expect(
        json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}}}}),
        &[],
    );
}

#[test]
fn types_stand_everywhere() {
    expect(
        json!({"properties": {"a": {"type": "string"}}}),
        &["s.type: Required value: must not be empty at the root"],
    );
    expect(
        json!({"type": "array", "items": {"type": "string"}}),
        &["s.type: Invalid value: \"array\": must be object at the root"],
    );
    expect_of_x(json!({}), &[".type: Required value: must not be empty for specified object fields"]);
    expect_of_x(
        json!({"type": "array", "items": {}}),
        &[".items.type: Required value: must not be empty for specified array items"],
    );
    expect_of_x(json!({"type": "array"}), &[".items: Required value: must be specified"]);
    expect_of_x(
        json!({"type": "text"}),
        &[
            ".type: Unsupported value: \"text\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
        ],
    );
}

#[test]
fn alternatives_judge_and_do_not_shape() {
    expect_of_x(
        json!({"type": "object", "anyOf": [{"type": "object", "nullable": true, "description": "d"}]}),
        &[
            ".anyOf[0].type: Forbidden: must be empty to be structural",
            ".anyOf[0].nullable: Forbidden: must be false to be structural",
            ".anyOf[0].description: Forbidden: must be empty to be structural",
        ],
    );
    let nested = json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"properties": {"a": {"default": "x"}}}]});
    expect_of_x(nested, &[".anyOf[0].properties[a].default: Forbidden: must be undefined to be structural"]);
    expect(
        json!({"type": "object", "allOf": [{"properties": {"a": {"minLength": 1}}}]}),
        &["s.properties[a]: Required value: because it is defined in s.allOf[0].properties[a]"],
    );
    expect_of_x(
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}, {"type": "integer"}]}),
        &[
            ".anyOf[0].type: Forbidden: must be empty to be structural",
            ".anyOf[1].type: Forbidden: must be empty to be structural",
        ],
    );
}

#[test]
fn extensions_stand_where_they_mean_something() {
    expect_of_x(
        json!({"x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
        &[".type: Required value: must be object if x-kubernetes-embedded-resource is true"],
    );
    expect_of_x(
        json!({"type": "object", "x-kubernetes-embedded-resource": true}),
        &[
            ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        ],
    );
    expect_of_x(
        json!({"type": "string", "x-kubernetes-list-type": "set"}),
        &[".type: Invalid value: \"string\": must be array if x-kubernetes-list-type is specified"],
    );
    expect_of_x(
        json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}),
        &[
            ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
        ],
    );
    expect_of_x(
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-map-keys": ["a"]}),
        &[".x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty"],
    );
    let keyed = |property: Value| {
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": property}}})
    };
    expect_of_x(
        keyed(json!({"type": "string", "nullable": true, "default": "a"})),
        &[
            ".items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
        ],
    );
    expect_of_x(
        keyed(json!({"type": "string"})),
        &[
            ".items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ],
    );
    expect_of_x(
        json!({"type": "object", "x-kubernetes-map-type": "set"}),
        &[".x-kubernetes-map-type: Unsupported value: \"set\": supported values: \"atomic\", \"granular\""],
    );
    expect_of_x(
        json!({"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true}),
        &[
            ".x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true",
        ],
    );
}

#[test]
fn metadata_is_not_described_again() {
    let with = |metadata: Value| json!({"type": "object", "properties": {"metadata": metadata}});
    let detail =
        "must not specify anything other than name and generateName, but metadata is implicitly specified";
    let labels = json!({"type": "object", "properties": {"labels": {"type": "object"}}});
    expect(with(labels), &[&format!("s.properties[metadata]: Forbidden: {detail}")]);
    expect(
        with(json!({"type": "string"})),
        &["s.properties[metadata].type: Invalid value: \"string\": must be object"],
    );
    expect(
        json!({"type": "object", "properties": {"kind": {"type": "string", "default": "K"}}}),
        &["s.properties[kind].default: Forbidden: must not be set in top-level kind"],
    );
}

#[test]
fn defaults_are_what_their_schema_takes() {
    expect_of_x(
        json!({"type": "integer", "default": "a"}),
        &[".default: Invalid value: \"string\":  in body must be of type integer: \"string\""],
    );
    expect_of_x(
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "default": {"b": 1}}),
        &[".default: Invalid value: {\"b\":1}: must not have unknown fields"],
    );
}

#[test]
fn what_openapi_knows_and_kubernetes_does_not_is_refused() {
    expect_of_x(
        json!({"type": "object", "$ref": "#/a", "patternProperties": {"a": {}}}),
        &[
            ".$ref: Forbidden: $ref is not supported",
            ".patternProperties: Forbidden: patternProperties is not supported",
        ],
    );
    expect_of_x(
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
        &[".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
    );
    expect_of_x(
        json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
        &[
            ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ],
    );
    expect_of_x(
        json!({"type": "string", "pattern": "a(?=b)"}),
        &[
            ".pattern: Invalid value: \"a(?=b)\": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
        ],
    );
    expect_of_x(
        json!({"type": "string", "x-kubernetes-validations": [{"rule": " "}, {"rule": "self\n== ''"}]}),
        &[
            ".x-kubernetes-validations[0].rule: Required value: rule is not specified",
            ".x-kubernetes-validations[1].message: Required value: message must be specified if rule contains line breaks",
        ],
    );
    expect(
        json!({"type": "object", "$schema": "x"}),
        &["s: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"],
    );
    expect(
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        &["s.additionalProperties: Forbidden: must not be used at the root"],
    );
}

#[test]
fn a_status_has_its_own_root() {
    let schema = json!({"type": "object", "anyOf": [{"required": ["a"]}]});
    let root = Path::Root;
    let found = check(&schema, true, &root.child("s"));
    let text = found[0].to_string();
    assert!(
        text.ends_with("fields are allowed at the root of the schema if the status subresource is enabled"),
        "{text}"
    );
    assert!(check(&schema, false, &root.child("s")).is_empty());
}

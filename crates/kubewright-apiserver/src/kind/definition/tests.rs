#![allow(clippy::needless_pass_by_value, reason = "cases are values")]

use super::check as validate;
use crate::{
    object::Object,
    value::{Value, json},
};

fn definition() -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": {"color": {"type": "string"}}}},
            }}}],
        },
    })
}

fn texts(new: Value, old: Option<Value>) -> Vec<String> {
    let object = |value: Value| Object(value.as_object().cloned().unwrap());
    let old = old.map(object);
    validate(&object(new), old.as_ref()).iter().map(ToString::to_string).collect()
}

/// Puts `value` where `pointer` leads.
#[track_caller]
fn with(pointer: &str, value: Value) -> Value {
    let mut changed = definition();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    changed.pointer_mut(parent).unwrap()[field] = value;
    changed
}

#[track_caller]
fn check(pointer: &str, value: Value, problems: &[&str]) {
    assert_eq!(texts(with(pointer, value), None), problems);
}

const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

#[test]
fn a_good_definition_is_taken() {
    assert_eq!(texts(definition(), None), Vec::<String>::new());
    assert_eq!(texts(definition(), Some(definition())), Vec::<String>::new());
}

#[test]
fn names_and_group_are_checked() {
    check(
        "/metadata/name",
        json!("other"),
        &["metadata.name: Invalid value: \"other\": must be spec.names.plural+\".\"+spec.group"],
    );
    check(
        "/spec/scope",
        json!("World"),
        &["spec.scope: Unsupported value: \"World\": supported values: \"Cluster\", \"Namespaced\""],
    );
    check("/spec/names/singular", json!(""), &["spec.names.singular: Required value"]);
    check(
        "/spec/names/shortNames",
        json!(["w", "W"]),
        &[&format!("spec.names.shortNames[1]: Invalid value: \"W\": {LABEL}")],
    );
    check(
        "/spec/names/listKind",
        json!("Widget"),
        &["spec.names.listKind: Invalid value: \"Widget\": kind and listKind may not be the same"],
    );
    let mut dotless = definition();
    dotless["spec"]["group"] = "example".into();
    dotless["metadata"]["name"] = "widgets.example".into();
    assert_eq!(
        texts(dotless, None),
        ["spec.group: Invalid value: \"example\": should be a domain with at least one dot"]
    );
    let mut protected = definition();
    protected["spec"]["group"] = "example.k8s.io".into();
    protected["metadata"]["name"] = "widgets.example.k8s.io".into();
    assert!(texts(protected.clone(), None)[0].starts_with(
        "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have"
    ));
    protected["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": "unapproved, a test"});
    assert_eq!(texts(protected, None), Vec::<String>::new());
}

#[test]
fn the_parts_of_a_version_are_checked_where_upstream_says_they_are() {
    check(
        "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color",
        json!({}),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].properties[color].type: Required value: must not be empty for specified object fields",
        ],
    );
    check("/spec/versions/0/schema", json!({}), &["spec.versions[0].schema.openAPIV3Schema: Required value"]);
    check(
        "/spec/versions/0/subresources",
        json!({"scale": {"specReplicasPath": "spec.n", "statusReplicasPath": ".spec.n"}}),
        &[
            "spec.subresources.scale.specReplicasPath: Invalid value: \"spec.n\": must be a simple json path starting with .",
            "spec.subresources.scale.statusReplicasPath: Invalid value: \".spec.n\": should be a json path under .status",
        ],
    );
    check(
        "/spec/versions/0/additionalPrinterColumns",
        json!([{"name": "A", "type": "text"}]),
        &[
            "spec.additionalPrinterColumns[0].type: Invalid value: \"text\": must be one of boolean,date,integer,number,string",
            "spec.additionalPrinterColumns[0].JSONPath: Required value",
        ],
    );
    check(
        "/spec/versions/0/selectableFields",
        json!([{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}, {"jsonPath": ".spec"}]),
        &[
            "spec.selectableFields[1].jsonPath: Duplicate value: \".spec.color\"",
            "spec.selectableFields[2].jsonPath: Invalid value: \".spec.size\": is an invalid path: does not refer to a valid field",
            "spec.selectableFields[3].jsonPath: Invalid value: \".spec\": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
        ],
    );
    let mut two = definition();
    let mut second = two["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    second["schema"]["openAPIV3Schema"]["properties"]["spec"]["type"] = "string".into();
    second["schema"]["openAPIV3Schema"]["properties"]["x"] = json!({});
    two["spec"]["versions"].as_array_mut().unwrap().push(second);
    assert_eq!(
        texts(two, None),
        [
            "spec.versions[1].schema.openAPIV3Schema.properties[x].type: Required value: must not be empty for specified object fields",
        ]
    );
}

#[test]
fn versions_fit_together() {
    let bad = texts(with("/spec/versions/0/storage", json!(false)), None);
    assert!(
        bad[0].starts_with("spec.versions: Invalid value: ")
            && bad[0].ends_with(": must have exactly one version marked as storage version")
    );
    check(
        "/spec/versions/0/deprecationWarning",
        json!("old"),
        &[
            "spec.versions[0].deprecationWarning: Invalid value: \"old\": can only be set for deprecated versions",
        ],
    );
    check(
        "/spec/conversion",
        json!({"strategy": "Webhook"}),
        &[
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ],
    );
    check(
        "/spec/preserveUnknownFields",
        json!(true),
        &[
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ],
    );
}

#[test]
fn what_is_established_stays() {
    let mut old = definition();
    old["status"] =
        json!({"conditions": [{"type": "Established", "status": "True"}], "storedVersions": ["v1"]});
    let mut new = old.clone();
    new["spec"]["scope"] = "Cluster".into();
    new["spec"]["versions"][0]["name"] = "v2".into();
    assert_eq!(
        texts(new, Some(old.clone())),
        [
            "spec.scope: Invalid value: \"Cluster\": field is immutable",
            "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions",
        ]
    );
    // A schema that was taken before stays, whatever is thought of it today.
    old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["x"] = json!({});
    assert_eq!(texts(old.clone(), Some(old)), Vec::<String>::new());
}

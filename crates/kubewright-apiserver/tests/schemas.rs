//! Custom resources and their schema: what is dropped, filled in, warned of and refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]
#![allow(clippy::needless_pass_by_value, reason = "cases are values")]

mod common;

use bytes::Bytes;
use common::{send, send_json, start};
use http::{Method, Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tower_service::Service;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PARTS: &str = "/apis/example.com/v1/namespaces/default/parts";

/// A definition of `parts.example.com`, whose specs are `spec`.
fn definition(spec: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "parts.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "parts", "kind": "Part"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "selectableFields": [{"jsonPath": ".spec.color"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": spec,
                    "status": {"type": "object", "properties": {"phase": {"type": "string", "enum": ["Good", "Bad"]}}},
                }}},
            }],
        },
    })
}

fn spec() -> Value {
    json!({"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "minimum": 1},
        "color": {"type": "string", "default": "red", "maxLength": 5},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    }})
}

fn part(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Part", "metadata": {"name": name}, "spec": spec})
}

async fn define(server: &ApiServer) {
    let (code, answer) = send_json(server, Method::POST, DEFINITIONS, definition(spec())).await;
    assert_eq!(code, 201, "{answer}");
}

/// The code, the warnings and the body of an answer.
async fn write(server: &ApiServer, method: Method, path: &str, body: &str) -> (u16, Vec<String>, Value) {
    let content_type =
        if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, content_type);
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
    let response = server.service().call(request).await.unwrap();
    let code = response.status().as_u16();
    let warnings = response.headers().get_all(header::WARNING).iter();
    let warnings = warnings.map(|warning| warning.to_str().unwrap().to_owned()).collect();
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    (code, warnings, serde_json::from_slice(&answer).unwrap())
}

#[tokio::test(start_paused = true)]
async fn objects_are_pruned_and_filled_in() {
    let (server, _client) = start();
    define(&server).await;
    let sent = json!({"size": 1, "tags": null, "other": {"a": 1}});
    let (code, made) = send_json(&server, Method::POST, PARTS, part("a", sent)).await;
    assert_eq!((code, &made["spec"]), (201, &json!({"size": 1, "color": "red"})));
    let path = format!("{PARTS}/a");
    let (code, patched) =
        send_json(&server, Method::PATCH, &path, json!({"spec": {"color": null, "more": 1}, "top": 1})).await;
    assert_eq!((code, &patched["spec"]), (200, &json!({"size": 1, "color": "red"})));
    assert_eq!(
        patched["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"],
        "nothing has changed"
    );
    assert!(patched.get("top").is_none());
}

#[tokio::test(start_paused = true)]
async fn objects_are_validated_in_the_words_of_upstream() {
    let (server, _client) = start();
    define(&server).await;
    for (spec, problem) in [
        (
            json!({"size": "big"}),
            "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"",
        ),
        (
            json!({"size": 0}),
            "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
        ),
        (json!({}), "spec.size: Required value"),
        (json!({"size": 1, "color": "purple"}), "spec.color: Too long: may not be more than 5 bytes"),
        (json!({"size": 1, "tags": ["a", "a"]}), "spec.tags[1]: Duplicate value: \"a\""),
    ] {
        let (code, answer) = send_json(&server, Method::POST, PARTS, part("a", spec)).await;
        let message = format!("Part.example.com \"a\" is invalid: {problem}");
        assert_eq!((code, &answer["message"], &answer["reason"]), (422, &message.into(), &"Invalid".into()));
    }
    let (_, answer) = send_json(&server, Method::POST, PARTS, part("a", json!({"size": "big"}))).await;
    assert_eq!(answer["details"]["causes"][0]["reason"], "FieldValueTypeInvalid");
    assert_eq!(answer["details"]["causes"][0]["field"], "spec.size");
}

#[tokio::test(start_paused = true)]
async fn unknown_and_repeated_fields_are_told_as_the_client_wishes() {
    let (server, _client) = start();
    define(&server).await;
    let body = r#"{"apiVersion": "example.com/v1", "kind": "Part", "metadata": {"name": "a", "color": 1},
        "spec": {"size": 1, "size": 2, "other": {"x": 1}}, "extra": 1}"#;
    let problems = [
        "duplicate field \"spec.size\"",
        "unknown field \"metadata.color\"",
        "unknown field \"extra\"",
        "unknown field \"spec.other\"",
    ];
    let strict = format!("{PARTS}?fieldValidation=Strict");
    let (code, _, answer) = write(&server, Method::POST, &strict, body).await;
    let message = format!(
        "Part in version \"v1\" cannot be handled as a Part: strict decoding error: {}",
        problems.join(", ")
    );
    assert_eq!((code, &answer["message"], &answer["reason"]), (400, &message.into(), &"BadRequest".into()));

    let (code, warnings, _) =
        write(&server, Method::POST, &format!("{PARTS}?dryRun=All&fieldValidation=Ignore"), body).await;
    assert_eq!((code, warnings), (201, Vec::new()));

    let (code, warnings, made) = write(&server, Method::POST, PARTS, body).await;
    let expected = problems.map(|problem| format!("299 - \"{}\"", problem.replace('"', "\\\"")));
    assert_eq!((code, warnings), (201, expected.to_vec()));
    assert_eq!(made["spec"], json!({"size": 2, "color": "red"}));

    let patch = r#"{"spec":{"other":1}}"#;
    let (code, _, answer) =
        write(&server, Method::PATCH, &format!("{PARTS}/a?fieldValidation=Strict"), patch).await;
    let message = answer["message"].as_str().unwrap();
    let problem = r#": strict decoding error: unknown field "spec.other""#;
    assert_eq!((code, message.ends_with(problem)), (422, true), "{message}");
    // What the patch has made is shown, and not the patch.
    let shown =
        r#" "" is invalid: patch: Invalid value: "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Part\","#;
    assert!(message.starts_with(shown), "{message}");
}

#[tokio::test(start_paused = true)]
async fn old_objects_have_the_defaults_of_today_and_may_stay_wrong() {
    let (server, _client) = start();
    define(&server).await;
    let (_, made) =
        send_json(&server, Method::POST, PARTS, part("a", json!({"size": 1, "color": "green"}))).await;
    let mut narrower = spec();
    narrower["properties"]["color"] = json!({"type": "string", "maxLength": 3});
    narrower["properties"]["shape"] = json!({"type": "string", "default": "round"});
    let name = format!("{DEFINITIONS}/parts.example.com");
    let mut changed = definition(narrower);
    let (_, current) = send_json(&server, Method::GET, &name, Value::Null).await;
    changed["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
    let (code, answer) = send_json(&server, Method::PUT, &name, changed).await;
    assert_eq!(code, 200, "{answer}");

    let path = format!("{PARTS}/a");
    let expected = json!({"size": 1, "color": "green", "shape": "round"});
    let (_, seen) = send_json(&server, Method::GET, &path, Value::Null).await;
    assert_eq!(seen["spec"], expected);
    assert_eq!(seen["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
    let (_, list) = send_json(&server, Method::GET, PARTS, Value::Null).await;
    assert_eq!(list["items"][0]["spec"], expected);

    let (code, patched) = send_json(&server, Method::PATCH, &path, json!({"spec": {"size": 2}})).await;
    assert_eq!(
        (code, &patched["spec"]["color"]),
        (200, &"green".into()),
        "what does not change may stay wrong"
    );
    let (code, refused) = send_json(&server, Method::PATCH, &path, json!({"spec": {"color": "blue"}})).await;
    let message = "Part.example.com \"a\" is invalid: spec.color: Too long: may not be more than 3 bytes";
    assert_eq!((code, &refused["message"]), (422, &message.into()));
}

#[tokio::test(start_paused = true)]
async fn a_status_is_validated_alone() {
    let (server, _client) = start();
    define(&server).await;
    send_json(&server, Method::POST, PARTS, part("a", json!({"size": 1}))).await;
    let path = format!("{PARTS}/a/status");
    let (code, answer) =
        send_json(&server, Method::PATCH, &path, json!({"spec": {"size": 0}, "status": {"phase": "Great"}}))
            .await;
    let message = "Part.example.com \"a\" is invalid: status.phase: Unsupported value: \"Great\": supported values: \"Good\", \"Bad\"";
    assert_eq!((code, &answer["message"]), (422, &message.into()));
    let (code, written) =
        send_json(&server, Method::PATCH, &path, json!({"status": {"phase": "Good", "x": 1}})).await;
    assert_eq!((code, &written["status"]), (200, &json!({"phase": "Good"})));
}

#[tokio::test(start_paused = true)]
async fn each_version_has_its_own_fields() {
    let (server, _client) = start();
    let mut two = definition(spec());
    let mut other = two["spec"]["versions"][0].clone();
    other["name"] = "v2".into();
    other["storage"] = false.into();
    other["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["weight"] =
        json!({"type": "integer", "default": 7});
    two["spec"]["versions"].as_array_mut().unwrap().push(other);
    let (code, answer) = send_json(&server, Method::POST, DEFINITIONS, two).await;
    assert_eq!(code, 201, "{answer}");
    let of_v2 = PARTS.replace("v1", "v2");
    let mut sent = part("a", json!({"size": 1, "weight": 9}));
    sent["apiVersion"] = "example.com/v2".into();
    let (code, answer) = send_json(&server, Method::POST, &of_v2, sent).await;
    assert_eq!(code, 201, "{answer}");
    for (path, expected) in [
        (PARTS, json!({"size": 1, "color": "red"})),
        // The stored version does not know the weight.
        (&of_v2, json!({"size": 1, "color": "red", "weight": 7})),
    ] {
        let (_, seen) = send_json(&server, Method::GET, &format!("{path}/a"), Value::Null).await;
        assert_eq!(seen["spec"], expected, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn definitions_whose_schema_is_none_are_refused() {
    let (server, _client) = start();
    let bad = definition(json!({"type": "object", "properties": {"a": {}}}));
    let (code, answer) = send_json(&server, Method::POST, DEFINITIONS, bad).await;
    let message = answer["message"].as_str().unwrap();
    assert_eq!(code, 422);
    assert!(message.contains("spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Required value: must not be empty for specified object fields"), "{message}");
    assert!(message.contains("spec.selectableFields[0].jsonPath: Invalid value: \".spec.color\": is an invalid path: does not refer to a valid field"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn documents_show_the_schema_with_what_all_objects_have() {
    let (server, _client) = start();
    define(&server).await;
    let (_, document) = send_json(&server, Method::GET, "/openapi/v3/apis/example.com/v1", Value::Null).await;
    let schemas = &document["components"]["schemas"];
    let part = &schemas["com.example.v1.Part"];
    assert_eq!(part["properties"]["spec"]["properties"]["size"]["minimum"], 1);
    assert_eq!(part["properties"]["kind"]["type"], "string");
    assert_eq!(part["x-kubernetes-selectable-fields"], json!([{"fieldPath": ".spec.color"}]));
    let list = &schemas["com.example.v1.PartList"];
    assert_eq!(
        list["properties"]["items"]["items"]["allOf"][0]["$ref"],
        "#/components/schemas/com.example.v1.Part"
    );
    let metadata = part["properties"]["metadata"]["allOf"][0]["$ref"].as_str().unwrap();
    let name = metadata.strip_prefix("#/components/schemas/").unwrap();
    assert_eq!(schemas[name]["properties"]["labels"]["type"], "object");
}

#[tokio::test(start_paused = true)]
async fn yaml_is_checked_as_json_is() {
    let (server, _client) = start();
    define(&server).await;
    let yaml = "apiVersion: example.com/v1\nkind: Part\nmetadata:\n  name: a\nspec:\n  size: 1\n  other: 2\n";
    let path = format!("{PARTS}?fieldValidation=Strict");
    let (code, answer) =
        send(&server, Method::POST, &path, "application/yaml", yaml.as_bytes().to_vec()).await;
    let message = "Part in version \"v1\" cannot be handled as a Part: strict decoding error: unknown field \"spec.other\"";
    assert_eq!((code, &answer["message"]), (400, &message.into()));
}

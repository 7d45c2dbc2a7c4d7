//! Updates and patches: which object and which version they are of, and what they may not touch.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{define_widgets, send, send_json, start};
use http::Method;
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

const CONFIG_MAP: &str = "/api/v1/namespaces/default/configmaps/a";
const WIDGET: &str = "/apis/example.com/v1/namespaces/default/widgets/a";

/// A server with a `ConfigMap` and a widget, both named `a`.
async fn furnished() -> ApiServer {
    let (server, client) = start();
    define_widgets(&client).await;
    for path in [CONFIG_MAP, WIDGET] {
        let collection = path.strip_suffix("/a").unwrap();
        let (code, _) = send_json(&server, Method::POST, collection, body(path, &json!({"name": "a"}))).await;
        assert_eq!(code, 201);
    }
    server
}

fn body(path: &str, metadata: &Value) -> Value {
    let (version, kind) = if path == WIDGET { ("example.com/v1", "Widget") } else { ("v1", "ConfigMap") };
    json!({"apiVersion": version, "kind": kind, "metadata": metadata})
}

/// The code, the first cause or nothing, and the message of the answer to a write of this metadata.
async fn write(server: &ApiServer, method: Method, path: &str, metadata: Value) -> (u16, String) {
    let sent = if method == Method::PATCH { json!({"metadata": metadata}) } else { body(path, &metadata) };
    let (code, answer) = send_json(server, method, path, sent).await;
    (code, answer["message"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_replacement_of_another_object_is_a_conflict_whatever_its_version() {
    let server = furnished().await;
    for (path, key, resource) in [
        (CONFIG_MAP, "configmaps/default/a", "configmaps"),
        (WIDGET, "example.com/widgets/default/a", "widgets.example.com"),
    ] {
        let (_, made) = send_json(&server, Method::GET, path, Value::Null).await;
        let uid = made["metadata"]["uid"].as_str().unwrap();
        for version in [&json!("1"), &made["metadata"]["resourceVersion"]] {
            let metadata = json!({"name": "a", "uid": "other", "resourceVersion": version});
            let expected = format!(
                "Operation cannot be fulfilled on {resource} \"a\": StorageError: invalid object, Code: 4, Key: /registry/{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: {uid}"
            );
            assert_eq!(write(&server, Method::PUT, path, metadata).await, (409, expected));
        }
    }
}

#[tokio::test]
async fn a_write_says_which_version_it_was_made_of() {
    let server = furnished().await;
    let malformed = "strconv.ParseUint: parsing \"abc\": invalid syntax";
    let modified =
        "the object has been modified; please apply your changes to the latest version and try again";
    for (method, path, version, code, message) in [
        (Method::PUT, CONFIG_MAP, json!("abc"), 500, malformed),
        (Method::PATCH, CONFIG_MAP, json!("abc"), 500, malformed),
        (Method::PUT, CONFIG_MAP, json!("1"), 409, modified),
        (Method::PUT, CONFIG_MAP, json!("0"), 200, ""),
        (Method::PATCH, CONFIG_MAP, Value::Null, 200, ""),
        (Method::PUT, WIDGET, json!("0"), 422, "Invalid value: 0: must be specified for an update"),
        (Method::PATCH, WIDGET, Value::Null, 422, "Invalid value: 0: must be specified for an update"),
        (Method::PATCH, WIDGET, json!("1"), 409, modified),
    ] {
        let metadata = json!({"name": "a", "resourceVersion": version});
        let (found, text) = write(&server, method.clone(), path, metadata).await;
        assert_eq!((found, text.ends_with(message)), (code, true), "{method} {path} {version}: {text}");
    }
    // A stale patch is stale before anything else is wrong with it.
    let stale = json!({"uid": "other", "resourceVersion": "1"});
    assert_eq!(write(&server, Method::PATCH, CONFIG_MAP, stale).await.0, 409);
}

#[tokio::test]
async fn what_only_the_server_sets_is_an_error_or_kept() {
    let server = furnished().await;
    let (_, made) = send_json(&server, Method::GET, CONFIG_MAP, Value::Null).await;
    let immutable = |field: &str, value: &str| {
        format!("ConfigMap \"a\" is invalid: metadata.{field}: Invalid value: {value}: field is immutable")
    };
    for (field, value) in [
        ("uid", json!("other")),
        ("deletionTimestamp", json!("2026-01-01T00:00:00Z")),
        ("deletionGracePeriodSeconds", json!(3)),
    ] {
        let expected = (422, immutable(field, &value.to_string()));
        assert_eq!(write(&server, Method::PATCH, CONFIG_MAP, json!({field: value})).await, expected);
    }
    for (field, value) in [
        ("uid", Value::Null),
        ("creationTimestamp", json!("2020-01-01T00:00:00Z")),
        ("creationTimestamp", Value::Null),
        ("generation", json!(9)),
        ("selfLink", json!("x")),
    ] {
        let (code, answer) =
            send_json(&server, Method::PATCH, CONFIG_MAP, json!({"metadata": {field: value}})).await;
        assert_eq!((code, &answer), (200, &made), "{field}");
    }
}

#[tokio::test]
async fn the_status_of_a_custom_resource_is_written_whatever_the_rest_says() {
    let server = furnished().await;
    let status = format!("{WIDGET}/status");
    assert_eq!(write(&server, Method::PATCH, &status, json!({"uid": "other"})).await.0, 200);
    let (_, made) = send_json(&server, Method::GET, WIDGET, Value::Null).await;
    let metadata =
        json!({"name": "a", "uid": "other", "resourceVersion": made["metadata"]["resourceVersion"]});
    assert_eq!(send_json(&server, Method::PUT, &status, body(WIDGET, &metadata)).await.0, 409);
}

#[tokio::test(start_paused = true)]
async fn built_in_kinds_know_how_their_lists_are_merged() {
    let (server, client) = start();
    define_widgets(&client).await;
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let containers = json!([{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]);
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}});
    let deployment = json!({"metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": template}});
    let (code, _) = send_json(&server, Method::POST, deployments, deployment).await;
    assert_eq!(code, 201);
    let patch = async |path: &str, patch: Value| {
        let media_type = "application/strategic-merge-patch+json";
        send(&server, Method::PATCH, path, media_type, patch.to_string().into_bytes()).await
    };
    let web = format!("{deployments}/web");
    let containers = json!([{"name": "b", "image": "b:2"}, {"name": "a", "$patch": "delete"}]);
    let (code, patched) =
        patch(&web, json!({"spec": {"template": {"spec": {"containers": containers}}}})).await;
    let containers = &patched["spec"]["template"]["spec"]["containers"];
    assert_eq!(
        (code, containers.as_array().map(Vec::len), &containers[0]["image"]),
        (200, Some(1), &"b:2".into())
    );

    for (value, code, message) in [
        (json!({"spec": {"$retainKeys": 1}}), 400, "invalid patch format of retainKeys"),
        (
            json!({"spec": {"template": {"spec": {"containers": [{"image": "x"}]}}}}),
            500,
            "map: map[image:x] does not contain declared merge key: name",
        ),
    ] {
        let (found, answer) = patch(&web, value).await;
        assert_eq!((found, &answer["message"]), (code, &message.into()));
    }
    let (code, answer) = patch("/apis/example.com/v1/namespaces/default/widgets/a", json!({})).await;
    assert_eq!((code, &answer["reason"]), (415, &"UnsupportedMediaType".into()));
}

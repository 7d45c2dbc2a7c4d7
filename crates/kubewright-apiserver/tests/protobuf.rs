//! Bodies in protobuf, as kubectl and Go's clients send them, through the first door.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{config_map, config_maps, define_widgets, dynamic, object, start, widget};
use http::Method;
use kube::api::PostParams;
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

/// A field of a message whose bytes are text or another message. All messages here are short.
fn bytes_field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

fn text(number: u8, text: &str) -> Vec<u8> {
    bytes_field(number, text.as_bytes())
}

fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

/// A message in the envelope that says what it is.
fn body(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let envelope = [text(1, api_version), text(2, kind)].concat();
    [b"k8s\0".to_vec(), bytes_field(1, &envelope), bytes_field(2, message)].concat()
}

fn named(name: &str) -> Vec<u8> {
    bytes_field(1, &text(1, name))
}

/// A `ConfigMap` with `key: value`.
fn config_map_message(name: &str, value: &str) -> Vec<u8> {
    [named(name), bytes_field(2, &[text(1, "key"), text(2, value)].concat())].concat()
}

async fn send(server: &ApiServer, method: Method, path: &str, body: Vec<u8>) -> (u16, Value) {
    common::send(server, method, path, "application/vnd.kubernetes.protobuf", body).await
}

#[tokio::test]
async fn what_comes_in_protobuf_is_kept_like_what_comes_in_json() {
    let (server, client) = start();
    let sent = body("v1", "ConfigMap", &config_map_message("a", "1"));
    let (code, made) = send(&server, Method::POST, CONFIG_MAPS, sent).await;
    assert_eq!((code, &made["data"]), (201, &json!({"key": "1"})));
    let text = config_maps(&client).create(&PostParams::default(), &config_map("b", "1")).await.unwrap();
    assert_eq!(config_maps(&client).get("a").await.unwrap().data, text.data);

    let sent = body("v1", "ConfigMap", &config_map_message("a", "2"));
    let (code, replaced) = send(&server, Method::PUT, &format!("{CONFIG_MAPS}/a"), sent).await;
    assert_eq!((code, &replaced["data"]), (200, &json!({"key": "2"})));
    assert_eq!(replaced["metadata"]["uid"], made["metadata"]["uid"]);
}

#[tokio::test]
async fn a_body_of_another_kind_is_refused_in_the_words_of_upstream() {
    let (server, _) = start();
    let cases = [
        (
            body("v1", "Secret", &named("a")),
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        ),
        (
            b"{}".to_vec(),
            "the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})",
        ),
        (
            body("v1", "ConfigMap", &[0x0a, 0x05]),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: unexpected EOF",
        ),
    ];
    for (sent, message) in cases {
        let (code, status) = send(&server, Method::POST, CONFIG_MAPS, sent).await;
        assert_eq!((code, status["message"].as_str().unwrap()), (400, message));
    }
}

#[tokio::test]
async fn a_scale_comes_in_protobuf() {
    let (server, client) = start();
    let deployment = object(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    }));
    let deployments = dynamic(&client, "apps", "v1", "Deployment", "deployments");
    deployments.create(&PostParams::default(), &deployment).await.unwrap();
    let sent = body("autoscaling/v1", "Scale", &[named("web"), bytes_field(2, &number(1, 4))].concat());
    let path = "/apis/apps/v1/namespaces/default/deployments/web/scale";
    let (code, scale) = send(&server, Method::PUT, path, sent).await;
    assert_eq!((code, &scale["spec"]), (200, &json!({"replicas": 4})));
    assert_eq!(deployments.get("web").await.unwrap().data["spec"]["replicas"], 4);
}

#[tokio::test]
async fn a_custom_resource_has_no_form_in_protobuf_but_the_options_of_its_deletion_have() {
    let (server, client) = start();
    let widgets = define_widgets(&client).await;
    let sent = body("example.com/v1", "Widget", &named("a"));
    let message = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml";
    for (method, path) in [(Method::POST, WIDGETS.to_owned()), (Method::PUT, format!("{WIDGETS}/a"))] {
        let (code, status) = send(&server, method, &path, sent.clone()).await;
        assert_eq!((code, status["reason"].as_str().unwrap()), (415, "UnsupportedMediaType"));
        assert_eq!(status["message"], message);
    }
    widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    for (options, left) in [(text(5, "All"), true), (text(4, "Background"), false)] {
        let sent = body("v1", "DeleteOptions", &options);
        let (code, status) = send(&server, Method::DELETE, &format!("{WIDGETS}/a"), sent).await;
        assert_eq!((code, status["status"].as_str().unwrap()), (200, "Success"));
        assert_eq!(widgets.get_opt("a").await.unwrap().is_some(), left);
    }
}

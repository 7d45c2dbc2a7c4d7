//! What the end-to-end tests share.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::{Method, Request, header};
use http_body_util::{BodyExt, Full};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DynamicObject, GroupVersionKind, PostParams, WatchEvent},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tower_service::Service;

/// A server and a client at its first door.
pub fn start() -> (ApiServer, Client) {
    let server = ApiServer::builder().build();
    let client = Client::new(server.service(), "default");
    (server, client)
}

/// The code and the body of the answer to a request that no client would make up.
pub async fn send(
    server: &ApiServer,
    method: Method,
    path: &str,
    content_type: &str,
    body: Vec<u8>,
) -> (u16, Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, content_type)
        .body(Full::new(Bytes::from(body)));
    let response = server.service().call(request.unwrap()).await.unwrap();
    let code = response.status().as_u16();
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&answer).unwrap())
}

/// [`send`] of JSON; a `PATCH` is a merge patch.
pub async fn send_json(server: &ApiServer, method: Method, path: &str, body: Value) -> (u16, Value) {
    let content_type =
        if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    send(server, method, path, content_type, body).await
}

/// The lines of a watch that goes on from `version` and ends by itself.
pub async fn events_after(server: &ApiServer, path: &str, version: &Value) -> Vec<Value> {
    let version = version.as_str().unwrap();
    let uri = format!("{path}?watch=true&timeoutSeconds=1&resourceVersion={version}");
    let request = Request::get(uri).body(Full::<Bytes>::default()).unwrap();
    let body = server.service().call(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    serde_json::Deserializer::from_slice(&body).into_iter().map(Result::unwrap).collect()
}

/// Any kind, by its words.
pub fn dynamic(client: &Client, group: &str, version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk(group, version, kind);
    Api::default_namespaced_with(client.clone(), &ApiResource::from_gvk_with_plural(&gvk, plural))
}

/// A definition of `widgets.example.com` with two versions, status and scale.
pub fn widget_definition() -> CustomResourceDefinition {
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            "subresources": {
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                    "labelSelectorPath": ".status.selector",
                },
            },
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
            ],
        })
    };
    serde_json::from_value(json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
            "versions": [version("v1", true), version("v1beta1", false)],
        },
    }))
    .unwrap()
}

/// Defines widgets.
pub async fn define_widgets(client: &Client) -> Api<DynamicObject> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &widget_definition()).await.unwrap();
    dynamic(client, "example.com", "v1", "Widget", "widgets")
}

pub fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).unwrap()
}

pub fn widget(name: &str, size: i64) -> DynamicObject {
    object(json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size},
    }))
}

pub fn config_map(name: &str, value: &str) -> DynamicObject {
    object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": value}}),
    )
}

pub fn config_maps(client: &Client) -> Api<DynamicObject> {
    dynamic(client, "", "v1", "ConfigMap", "configmaps")
}

/// The next event as `ADDED name`.
pub async fn next<K: ResourceExt>(
    events: &mut (impl Stream<Item = Result<WatchEvent<K>, kube::Error>> + Unpin),
) -> String {
    match events.next().await.expect("the watch goes on").expect("the watch is not cut") {
        WatchEvent::Added(object) => format!("ADDED {}", object.name_any()),
        WatchEvent::Modified(object) => format!("MODIFIED {}", object.name_any()),
        WatchEvent::Deleted(object) => format!("DELETED {}", object.name_any()),
        WatchEvent::Bookmark(bookmark) => format!("BOOKMARK {}", bookmark.metadata.resource_version),
        WatchEvent::Error(status) => format!("ERROR {} {}", status.code, status.reason),
    }
}

/// The code, reason and message of a refusal.
#[track_caller]
pub fn refusal<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> (u16, String, String) {
    match result {
        Err(kube::Error::Api(status)) => (status.code, status.reason, status.message),
        other => panic!("the server should have refused: {other:?}"),
    }
}

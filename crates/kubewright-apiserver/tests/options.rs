//! Options of requests, as they come over the wire.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use std::time::Duration;

use common::{config_map, config_maps, define_widgets, send_json, start};
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use kube::{
    Api, Client, ResourceExt,
    api::{DynamicObject, ListParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower_service::Service;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// A server with ConfigMaps `a`, `b` and `c`.
async fn three() -> (ApiServer, Api<DynamicObject>) {
    let (server, client): (_, Client) = start();
    let config_maps = config_maps(&client);
    for name in ["a", "b", "c"] {
        config_maps.create(&PostParams::default(), &config_map(name, "1")).await.unwrap();
    }
    (server, config_maps)
}

async fn names(config_maps: &Api<DynamicObject>) -> Vec<String> {
    config_maps.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect()
}

async fn ask(server: &ApiServer, method: Method, path: &str, body: &'static str) -> (StatusCode, Value) {
    let request = Request::builder().method(method).uri(format!("{PATH}{path}"));
    let request = request.header(header::CONTENT_TYPE, "application/json").body(Full::from(body)).unwrap();
    let (parts, body) = server.service().call(request).await.unwrap().into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    (parts.status, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn options_that_cannot_be_read_delete_nothing() {
    let (server, config_maps) = three().await;
    for (path, body) in [
        ("/a", r#"{"dryRun":"All","preconditions":{"uid":5}}"#),
        ("/a", r#"{"preconditions":{"uid":5}}"#),
        ("/a", r#"{"preconditions":"x"}"#),
        ("/a", r#"{"kind":"ConfigMap","apiVersion":"v1"}"#),
        ("/a", "[]"),
        ("/a?gracePeriodSeconds=x", ""),
        ("?limit=x", ""),
        ("", r#"{"dryRun":"All"}"#),
        ("?labelSelector=a+in", ""),
    ] {
        let (code, status) = ask(&server, Method::DELETE, path, body).await;
        assert_eq!(
            (code, &status["reason"]),
            (StatusCode::BAD_REQUEST, &"BadRequest".into()),
            "{path} {body}"
        );
        assert_eq!(names(&config_maps).await, ["a", "b", "c"], "{path} {body}");
    }
}

#[tokio::test(start_paused = true)]
async fn preconditions_of_a_deletion_come_from_the_query_too() {
    let (server, config_maps) = three().await;
    let (code, _) = ask(&server, Method::DELETE, "/a?uid=other", "").await;
    assert_eq!(code, StatusCode::CONFLICT);
    let (code, _) = ask(&server, Method::DELETE, "?uid=other", "").await;
    assert_eq!(code, StatusCode::CONFLICT);
    assert_eq!(names(&config_maps).await, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn objects_that_can_be_read_are_not_deleted_as_unreadable() {
    let (server, config_maps) = three().await;
    let body = r#"{"ignoreStoreReadErrorWithClusterBreakingPotential":true}"#;
    let (code, status) = ask(&server, Method::DELETE, "/a", body).await;
    let message = "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage";
    assert_eq!((code, &status["message"]), (StatusCode::CONFLICT, &message.into()));
    assert_eq!(ask(&server, Method::DELETE, "/x", body).await.0, StatusCode::NOT_FOUND);
    assert_eq!(names(&config_maps).await, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_collection_is_deleted_in_pages() {
    let (server, config_maps) = three().await;
    let (_, page) = ask(&server, Method::DELETE, "?limit=2", "").await;
    assert_eq!(page["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(names(&config_maps).await, ["c"]);
    let token = page["metadata"]["continue"].as_str().unwrap();
    let (_, page) = ask(&server, Method::DELETE, &format!("?limit=2&continue={token}"), "").await;
    assert_eq!(
        (&page["items"][0]["metadata"]["name"], &page["metadata"]["continue"]),
        (&"c".into(), &Value::Null)
    );
    assert!(names(&config_maps).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_its_options_say() {
    let (server, _) = three().await;
    for (query, seconds) in
        [("watch=yes&timeoutSeconds=7", 7), ("watch&timeoutSeconds=7", 7), ("watch=1&timeoutSeconds=-5", 0)]
    {
        let start = Instant::now();
        let (code, _) = ask(&server, Method::GET, &format!("?{query}"), "").await;
        assert_eq!((code, start.elapsed().as_secs()), (StatusCode::OK, seconds), "{query}");
    }
    let message = "strconv.ParseInt: parsing \"18446744073709551615\": value out of range";
    let (code, status) = ask(&server, Method::GET, "?watch=1&timeoutSeconds=18446744073709551615", "").await;
    assert_eq!((code, &status["message"]), (StatusCode::BAD_REQUEST, &message.into()));
    let longest = ask(&server, Method::GET, "?watch=1&timeoutSeconds=9223372036854775807", "");
    assert!(tokio::time::timeout(Duration::from_secs(86_400), longest).await.is_err(), "it goes on");
}

#[tokio::test(start_paused = true)]
async fn versions_are_refused_as_each_verb_refuses_them() {
    let (server, _) = three().await;
    let problem = "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax";
    for (query, expected, message) in [
        ("?resourceVersion=x", 400, format!("invalid resource version: {problem}")),
        ("?watch=1&resourceVersion=x", 500, problem.to_owned()),
        ("/a?resourceVersion=x", 500, problem.to_owned()),
    ] {
        let (code, status) = ask(&server, Method::GET, query, "").await;
        assert_eq!((code.as_u16(), &status["message"]), (expected, &message.into()), "{query}");
    }
    assert_eq!(ask(&server, Method::GET, "/a?resourceVersion=0", "").await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_get_waits_for_the_version_that_it_asks_for() {
    let (server, config_maps) = three().await;
    let start = Instant::now();
    let (code, status) = ask(&server, Method::GET, "/a?resourceVersion=9999999999999999", "").await;
    assert_eq!((code, start.elapsed()), (StatusCode::GATEWAY_TIMEOUT, Duration::from_secs(3)));
    assert_eq!(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
    let version = config_maps.get("c").await.unwrap().resource_version().unwrap();
    assert_eq!(
        ask(&server, Method::GET, &format!("/a?resourceVersion={version}"), "").await.0,
        StatusCode::OK
    );
}

/// As the original answers.
#[tokio::test(start_paused = true)]
async fn selectors_that_cannot_be_read_are_refused_in_the_words_of_their_kind() {
    let (server, client) = start();
    define_widgets(&client).await;
    for (path, message) in [
        ("/api/v1/pods?labelSelector=a+in", "unable to parse requirement: found '' expected: '('"),
        ("/api/v1/pods?limit=x", "strconv.ParseInt: parsing \"x\": invalid syntax"),
        ("/api/v1/pods?fieldSelector=spec.other=1", "field label not supported: spec.other"),
        ("/api/v1/nodes?fieldSelector=metadata.namespace=a", "field label not supported: metadata.namespace"),
        (
            "/api/v1/configmaps?fieldSelector=data.k=v",
            "\"data.k\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
        ("/apis/batch/v1/jobs?fieldSelector=spec.x=1", "field label \"spec.x\" not supported for Job"),
        ("/apis/example.com/v1/widgets?fieldSelector=spec.size=1", "field label not supported: spec.size"),
        (
            "/api/v1/pods?fieldSelector=spec.nodeName",
            "invalid selector: 'spec.nodeName'; can't understand 'spec.nodeName'",
        ),
    ] {
        let (code, answer) = send_json(&server, Method::GET, path, Value::Null).await;
        assert_eq!((code, &answer["message"]), (400, &message.into()), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_absent_is_selected_as_go_reads_it() {
    let (server, _) = start();
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    send_json(&server, Method::POST, "/api/v1/namespaces/default/pods", pod).await;
    for (selector, found) in [
        ("spec.nodeName=", 1),
        ("spec.host=", 1),
        ("spec.hostNetwork=false", 1),
        ("spec.hostNetwork=", 0),
        ("spec.hostNetwork!=true", 1),
        ("status.podIP=,status.phase=Pending", 1),
        ("status.podIP=0", 0),
    ] {
        let path = format!("/api/v1/pods?fieldSelector={}", selector.replace(',', "%2C"));
        let (_, list) = send_json(&server, Method::GET, &path, Value::Null).await;
        assert_eq!(list["items"].as_array().unwrap().len(), found, "{selector}");
    }
}

/// Lists of custom resources are no structs in Go, and say that they do not go on.
#[tokio::test(start_paused = true)]
async fn lists_of_custom_resources_always_say_where_they_go_on() {
    let (server, client) = start();
    define_widgets(&client).await;
    let list = async |path: &str| send_json(&server, Method::GET, path, Value::Null).await.1;
    assert_eq!(list("/apis/example.com/v1/widgets").await["metadata"]["continue"], "");
    assert_eq!(list("/api/v1/pods").await["metadata"].get("continue"), None);
}

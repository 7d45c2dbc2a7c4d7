//! What clients are told of objects beside the answer: fields that nobody knows, that are there twice, or that hold what they cannot, and advice.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use bytes::Bytes;
use common::{send, send_json, start};
use http::{Method, Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tower_service::Service;

const PODS: &str = "/api/v1/namespaces/default/pods";

const POD: &str = r#"{"apiVersion": "v1", "kind": "Pod", "foo": {}, "metadata": {"name": "a", "name": "a"},
    "spec": {"containers": [{"name": "c", "image": "i", "imagePullPolcy": "Always"}], "nodeName": "n", "nodeName": "m"}}"#;

const PROBLEMS: [&str; 4] = [
    r#"unknown field "foo""#,
    r#"duplicate field "metadata.name""#,
    r#"unknown field "spec.containers[0].imagePullPolcy""#,
    r#"duplicate field "spec.nodeName""#,
];

/// The code, the warnings and the body of an answer.
async fn write(
    server: &ApiServer,
    method: Method,
    path: &str,
    content_type: &str,
    body: &str,
) -> (u16, Vec<String>, Value) {
    let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
    let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, content_type);
    let response = server.service().call(request.body(body).unwrap()).await.unwrap();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings.map(|value| value.to_str().unwrap().replace('\\', "")).collect();
    let code = response.status().as_u16();
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    (code, warnings, serde_json::from_slice(&answer).unwrap())
}

fn as_warnings(problems: &[&str]) -> Vec<String> {
    problems.iter().map(|problem| format!("299 - \"{problem}\"")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_strict_write_names_what_it_does_not_take() {
    let (server, _client) = start();
    let path = format!("{PODS}?fieldValidation=Strict");
    let (code, warnings, answer) = write(&server, Method::POST, &path, "application/json", POD).await;
    let message = format!(
        "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: {}",
        PROBLEMS.join(", ")
    );
    assert_eq!((code, &answer["reason"], &answer["message"]), (400, &"BadRequest".into(), &message.into()));
    assert_eq!(warnings, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn other_writes_drop_it_and_warn_of_it_unless_told_not_to() {
    let (server, _client) = start();
    let silent = format!("{PODS}?fieldValidation=Ignore&dryRun=All");
    let (code, warnings, _) = write(&server, Method::POST, &silent, "application/json", POD).await;
    assert_eq!((code, warnings), (201, Vec::new()));
    let (code, warnings, made) = write(&server, Method::POST, PODS, "application/json", POD).await;
    assert_eq!((code, warnings), (201, as_warnings(&PROBLEMS)));
    assert_eq!((&made["foo"], &made["spec"]["nodeName"]), (&Value::Null, &json!("m")));
    assert_eq!(made["spec"]["containers"][0].get("imagePullPolcy"), None);
}

#[tokio::test(start_paused = true)]
async fn yaml_is_read_in_the_order_of_names() {
    let (server, _client) = start();
    let yaml = "kind: Pod\napiVersion: v1\nmetadata:\n  name: a\nfoo: 1\nspec:\n  containers: []\nbar: 1\n";
    let path = format!("{PODS}?fieldValidation=Strict");
    let (code, answer) =
        send(&server, Method::POST, &path, "application/yaml", yaml.as_bytes().to_vec()).await;
    let message = r#"Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "bar", unknown field "foo""#;
    assert_eq!((code, &answer["message"]), (400, &message.into()));
}

/// Each sort of patch shows something else in its messages: what it has made, or itself.
#[tokio::test(start_paused = true)]
async fn patches_are_judged_by_what_they_say_and_by_what_they_make() {
    let (server, _client) = start();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    send_json(&server, Method::POST, maps, map).await;
    let path = format!("{maps}/a?fieldValidation=Strict");
    for (form, patch, problems) in [
        (
            "merge-patch",
            r#"{"data": {"k": "w", "k": "x"}, "foo": 1}"#,
            &[r#"duplicate field "data.k""#, r#"unknown field "foo""#][..],
        ),
        (
            "json-patch",
            r#"[{"op": "add", "op": "add", "path": "/foo", "value": 1, "bar": 2}]"#,
            &[
                r#"json patch duplicate field "[0].op""#,
                r#"json patch unknown field "[0].bar""#,
                r#"unknown field "foo""#,
            ],
        ),
        (
            "strategic-merge-patch",
            r#"{"foo": {"a": [1]}, "bar": 2}"#,
            &[r#"unknown field "bar""#, r#"unknown field "foo""#],
        ),
    ] {
        let content_type = format!("application/{form}+json");
        let (code, _, answer) = write(&server, Method::PATCH, &path, &content_type, patch).await;
        let message = answer["message"].as_str().unwrap();
        let problem = format!(": strict decoding error: {}", problems.join(", "));
        assert_eq!((code, message.ends_with(&problem)), (422, true), "{message}");
        let shown =
            if form == "strategic-merge-patch" { "\"map[bar:2 foo:map[a:[1]]]\"" } else { r#""{\"api"# };
        let start = format!(r#" "" is invalid: patch: Invalid value: {shown}"#);
        assert!(message.starts_with(&start), "{message}");

        let lenient = format!("{maps}/a?dryRun=All");
        let (code, warnings, answer) = write(&server, Method::PATCH, &lenient, &content_type, patch).await;
        assert_eq!((code, warnings), (200, as_warnings(problems)), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_of_the_wrong_type_is_refused_whatever_the_client_wishes() {
    let (server, _client) = start();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let body = r#"{"metadata": {"name": "a"}, "spec": {"replicas": "abc"}}"#;
    let path = format!("{deployments}?fieldValidation=Ignore");
    let (code, _, answer) = write(&server, Method::POST, &path, "application/json", body).await;
    let message = r#"Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"#;
    assert_eq!((code, &answer["message"]), (400, &message.into()));
    for (metadata, problem) in [
        (json!([]), "array into Go struct field Deployment.metadata of type v1.ObjectMeta"),
        (
            json!({"labels": {"a": 1}}),
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            json!({"finalizers": "a"}),
            "string into Go struct field ObjectMeta.metadata.finalizers of type []string",
        ),
    ] {
        let (code, answer) =
            send_json(&server, Method::POST, deployments, json!({"metadata": metadata})).await;
        let message = format!(
            "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal {problem}"
        );
        assert_eq!((code, &answer["message"]), (400, &message.into()));
    }
}

#[tokio::test(start_paused = true)]
async fn owners_that_are_there_twice_are_dropped_with_a_warning() {
    let (server, _client) = start();
    let maps = "/api/v1/namespaces/default/configmaps";
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"});
    let map = json!({"metadata": {"name": "a", "ownerReferences": [owner, owner]}});
    let warning = |when: &str| {
        as_warnings(&[&format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u"
        )])
    };
    let (code, warnings, made) =
        write(&server, Method::POST, maps, "application/json", &map.to_string()).await;
    assert_eq!((code, warnings), (201, warning("")));
    assert_eq!(made["metadata"]["ownerReferences"], json!([owner]));
    let path = format!("{maps}/a");
    let (_, warnings, _) = write(&server, Method::PUT, &path, "application/json", &map.to_string()).await;
    assert_eq!(warnings, warning(""));
    let (_, warnings, _) =
        write(&server, Method::PATCH, &path, "application/merge-patch+json", &map.to_string()).await;
    assert_eq!(warnings, warning(" after mutating admission happens"));
}

#[tokio::test(start_paused = true)]
async fn clients_are_warned_of_old_versions_and_of_names_that_will_surprise_them() {
    let (server, _client) = start();
    let version = |name: &str, deprecated: bool, warning: Option<&str>| {
        json!({"name": name, "served": true, "storage": name == "v1", "deprecated": deprecated, "deprecationWarning": warning,
            "schema": {"openAPIV3Schema": {"type": "object"}}})
    };
    let definition = json!({"metadata": {"name": "parts.example.com"}, "spec": {
        "group": "example.com", "scope": "Cluster", "names": {"plural": "parts", "kind": "Part"},
        "versions": [version("v1", false, None), version("v1beta1", true, None), version("v1alpha1", true, Some("too old")),
            version("v2alpha1", false, None)],
    }});
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    send_json(&server, Method::POST, definitions, definition).await;
    for (version, expected) in [
        ("v1", &[][..]),
        ("v1beta1", &["example.com/v1beta1 Part is deprecated; use example.com/v1 Part"]),
        ("v1alpha1", &["too old"]),
    ] {
        let path = format!("/apis/example.com/{version}/parts");
        let (code, warnings, _) = write(&server, Method::GET, &path, "application/json", "").await;
        assert_eq!((code, warnings), (200, as_warnings(expected)), "{version}");
    }

    let part = |finalizers: Value| {
        json!({"apiVersion": "example.com/v1", "kind": "Part", "metadata": {"name": "a", "finalizers": finalizers}}).to_string()
    };
    let advice = "to avoid accidental conflicts with other finalizer writers";
    let parts = "/apis/example.com/v1/parts";
    let finalizers = part(json!(["f", "example.com", "example.com/f", "orphan"]));
    let (_, warnings, _) = write(&server, Method::POST, parts, "application/json", &finalizers).await;
    let expected = [
        format!(
            "metadata.finalizers: \"example.com\": prefer a domain-qualified finalizer name including a path (/) {advice}"
        ),
        format!("metadata.finalizers: \"f\": prefer a domain-qualified finalizer name {advice}"),
    ];
    assert_eq!(warnings, as_warnings(&expected.each_ref().map(String::as_str)));
    let more = r#"{"metadata": {"finalizers": ["f", "example.com", "example.com/f", "orphan", "g"]}}"#;
    let path = format!("{parts}/a");
    let (_, warnings, _) = write(&server, Method::PATCH, &path, "application/merge-patch+json", more).await;
    assert_eq!(
        warnings,
        as_warnings(&[&format!(
            "metadata.finalizers: \"g\": prefer a domain-qualified finalizer name {advice}"
        )])
    );

    let pod = r#"{"metadata": {"name": "a.b"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}"#;
    let (_, warnings, _) = write(&server, Method::POST, PODS, "application/json", pod).await;
    assert!(
        warnings[0].starts_with("299 - \"metadata.name: this is used in the Pod's hostname"),
        "{warnings:?}"
    );
}

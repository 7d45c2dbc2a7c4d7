//! Metadata that is refused, and what an object is of.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{define_widgets, send_json, start};
use http::Method;
use serde_json::{Value, json};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps?dryRun=All";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

#[tokio::test]
async fn metadata_is_refused_with_the_paths_and_texts_of_upstream() {
    let (server, _) = start();
    let owner = |field: &str, value: Value| {
        let mut owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "n", "uid": "u"});
        owner[field] = value;
        owner
    };
    let required =
        |field: &str| format!("metadata.ownerReferences[0].{field}: Required value: must not be empty");
    let unqualified = "name is neither a standard finalizer name nor is it fully qualified";
    let rows = [
        (json!({"labels": {"-a": "x"}}), format!("metadata.labels: Invalid value: \"-a\": name part {NAME}")),
        (json!({"labels": {"A.com/b": "x"}}), format!("metadata.labels: Invalid value: \"A.com/b\": prefix part {SUBDOMAIN}")),
        (json!({"labels": {"a": "x".repeat(64)}}), format!("metadata.labels: Invalid value: \"{}\": must be no more than 63 bytes", "x".repeat(64))),
        (json!({"annotations": {"A_B/c": "x"}}), format!("metadata.annotations: Invalid value: \"A_B/c\": prefix part {SUBDOMAIN}")),
        (json!({"annotations": {"a": "x".repeat(262_144)}}), "metadata.annotations: Too long: may not be more than 262144 bytes".into()),
        (json!({"finalizers": ["x"]}), format!("metadata.finalizers[0]: Invalid value: \"x\": {unqualified}")),
        (json!({"finalizers": ["example.com/x y"]}), format!("metadata.finalizers: Invalid value: \"example.com/x y\": name part {NAME}")),
        (
            json!({"finalizers": ["orphan", "foregroundDeletion"]}),
            "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and foregroundDeletion cannot be both set".into(),
        ),
        (json!({"ownerReferences": [owner("apiVersion", json!(""))]}), required("apiVersion")),
        (json!({"ownerReferences": [owner("uid", Value::Null)]}), required("uid")),
        (
            json!({"ownerReferences": [owner("apiVersion", json!("a/b/c"))]}),
            "metadata.ownerReferences[0].apiVersion: Invalid value: \"a/b/c\": must be <group>/<version> or <version>".into(),
        ),
        (
            json!({"ownerReferences": [owner("kind", json!("Event"))]}),
            "metadata.ownerReferences[0]: Invalid value: {\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"n\",\"uid\":\"u\"}: /v1, Kind=Event is disallowed from being an owner".into(),
        ),
        (json!({"generateName": "A_"}), format!("metadata.generateName: Invalid value: \"A_\": {SUBDOMAIN}")),
        (json!({"name": ""}), "metadata.name: Required value: name or generateName is required".into()),
        (json!({"name": "a".repeat(254)}), format!("metadata.name: Invalid value: \"{}\": must be no more than 253 characters", "a".repeat(254))),
    ];
    for (mut metadata, expected) in rows {
        let name = metadata.as_object_mut().unwrap().entry("name").or_insert(json!("a")).clone();
        let (code, status) =
            send_json(&server, Method::POST, CONFIG_MAPS, json!({"metadata": metadata})).await;
        let message = format!("ConfigMap {name} is invalid: {expected}");
        assert_eq!((code, status["message"].as_str()), (422, Some(message.as_str())), "{metadata}");
    }
}

#[tokio::test]
async fn only_one_owner_controls_and_one_that_is_named_twice_counts_once() {
    let (server, _) = start();
    let owner = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": name, "controller": true});
    let create = async |owners: Value| {
        let body = json!({"metadata": {"name": "a", "ownerReferences": owners}});
        send_json(&server, Method::POST, CONFIG_MAPS, body).await
    };
    let (code, status) = create(json!([owner("m"), owner("n")])).await;
    let message = status["message"].as_str().unwrap();
    let expected = "Only one reference can have Controller set to true. Found \"true\" in references for ConfigMap/m and ConfigMap/n";
    assert_eq!((code, message.ends_with(expected)), (422, true), "{message}");
    let (code, made) = create(json!([owner("m"), owner("m")])).await;
    assert_eq!((code, &made["metadata"]["ownerReferences"]), (201, &json!([owner("m")])));
}

#[tokio::test]
async fn custom_resources_take_finalizers_of_no_domain() {
    let (server, client) = start();
    define_widgets(&client).await;
    let path = "/apis/example.com/v1/namespaces/default/widgets";
    let body = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "finalizers": ["x"]}});
    assert_eq!(send_json(&server, Method::POST, path, body).await.0, 201);
}

#[tokio::test]
async fn a_body_that_does_not_say_all_of_what_it_is_is_of_the_kind_of_the_path() {
    let (server, _) = start();
    let scheme = "in scheme \"pkg/runtime/scheme.go:111\"";
    for (types, expected) in [
        (json!({}), Ok(())),
        (json!({"kind": "ConfigMap"}), Ok(())),
        (json!({"apiVersion": "v1"}), Ok(())),
        (json!({"apiVersion": "", "kind": ""}), Ok(())),
        (
            json!({"kind": "configmap"}),
            Err(format!("configmap in version \"v1\" cannot be handled as a ConfigMap: no kind \"configmap\" is registered for version \"v1\" {scheme}")),
        ),
        (
            json!({"apiVersion": "apps/v1"}),
            Err(format!("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \"apps/v1\" {scheme}")),
        ),
        (
            json!({"kind": "Secret"}),
            Err("Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion".to_owned()),
        ),
    ] {
        let mut body = types.clone();
        body["metadata"] = json!({"name": "a"});
        let (code, answer) = send_json(&server, Method::POST, CONFIG_MAPS, body).await;
        let outcome = if code == 201 { Ok(()) } else { Err(answer["message"].as_str().unwrap().to_owned()) };
        assert_eq!(outcome, expected, "{types}");
    }
}

#[tokio::test]
async fn a_dry_run_and_what_is_no_version_may_create() {
    let (server, _) = start();
    for (path, version, code) in [
        (CONFIG_MAPS, "5", 201),
        ("/api/v1/namespaces/default/configmaps", "5", 500),
        ("/api/v1/namespaces/default/configmaps", "0", 201),
    ] {
        let body = json!({"metadata": {"name": "a", "resourceVersion": version}});
        assert_eq!(send_json(&server, Method::POST, path, body).await.0, code, "{path} {version}");
    }
}

//! Deletions: what they answer, what they leave, and what a watch sees of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{config_map, config_maps, events_after, refusal, send_json, start};
use http::Method;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn finalizers_hold_a_deletion_up() {
    let (_server, client) = start();
    let config_maps = config_maps(&client);
    let mut sent = config_map("a", "1");
    sent.metadata.finalizers = Some(vec!["example.com/x".into()]);
    config_maps.create(&PostParams::default(), &sent).await.unwrap();
    let pending =
        config_maps.delete("a", &DeleteParams::default()).await.unwrap().left().expect("the object");
    assert!(pending.metadata.deletion_timestamp.is_some());
    assert_eq!(pending.metadata.deletion_grace_period_seconds, Some(0));
    let again = config_maps.delete("a", &DeleteParams::default()).await.unwrap().left().expect("the object");
    assert_eq!(again.resource_version(), pending.resource_version());

    let (code, _, message) = refusal(config_maps.create(&PostParams::default(), &config_map("a", "1")).await);
    assert_eq!((code, message.as_str()), (409, "object is being deleted: configmaps \"a\" already exists"));
    let params = PatchParams::default();
    let more = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/x", "example.com/y"]}}));
    let (code, _, message) = refusal(config_maps.patch("a", &params, &more).await);
    assert_eq!(code, 422);
    assert!(message.ends_with("no new finalizers can be added if the object is being deleted, found new finalizers []string{\"example.com/y\"}"));

    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let last = config_maps.patch("a", &params, &none).await.unwrap();
    assert!(last.finalizers().is_empty(), "the write that releases it succeeds");
    assert_eq!(refusal(config_maps.get("a").await).0, 404);
}

#[tokio::test(start_paused = true)]
async fn deletions_check_their_preconditions() {
    let (_server, client) = start();
    let config_maps = config_maps(&client);
    let made = config_maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let with = |uid: Option<String>, resource_version: Option<String>| {
        DeleteParams::default().preconditions(Preconditions { uid, resource_version })
    };
    let (code, _, message) = refusal(config_maps.delete("a", &with(Some("u".into()), None)).await);
    let uid = made.uid().unwrap();
    assert_eq!(code, 409);
    assert_eq!(
        message,
        format!(
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (u) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
        )
    );
    assert_eq!(refusal(config_maps.delete("a", &with(None, Some("1".into()))).await).0, 409);
    let status =
        config_maps.delete("a", &with(made.uid(), made.resource_version())).await.unwrap().right().unwrap();
    assert!(status.is_success());
    assert_eq!(status.details.unwrap().uid, uid);
}

#[tokio::test(start_paused = true)]
async fn pods_on_a_node_get_time_to_stop() {
    let (_server, client) = start();
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let pod = |name: &str, node: Option<&str>| -> Pod {
        serde_json::from_value(json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}})).unwrap()
    };
    let made = pods.create(&PostParams::default(), &pod("a", None)).await.unwrap();
    assert_eq!(made.status.unwrap().phase.as_deref(), Some("Pending"));
    pods.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(refusal(pods.get("a").await).0, 404);

    pods.create(&PostParams::default(), &pod("b", Some("n"))).await.unwrap();
    let pending = pods.delete("b", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(pending.metadata.deletion_grace_period_seconds, Some(30));
    pods.delete("b", &DeleteParams::default().grace_period(0)).await.unwrap();
    assert_eq!(refusal(pods.get("b").await).0, 404);
}

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// Type, version, deletion grace and finalizers of each event.
async fn seen(server: &ApiServer, path: &str, after: &Value) -> Vec<(String, Value, Value, Value)> {
    let events = events_after(server, path, &after["metadata"]["resourceVersion"]).await;
    let row = |event: &Value| {
        let metadata = &event["object"]["metadata"];
        let field = |name: &str| metadata[name].clone();
        let kind = event["type"].as_str().unwrap().to_owned();
        (kind, field("resourceVersion"), field("deletionGracePeriodSeconds"), field("finalizers"))
    };
    events.iter().map(row).collect()
}

#[tokio::test(start_paused = true)]
async fn the_write_that_takes_the_last_finalizer_off_is_answered_and_the_watch_sees_what_was() {
    let sent = json!({"metadata": {"name": "a", "finalizers": ["example.com/x"]}, "data": {"k": "1"}});
    let put = json!({"metadata": {"name": "a"}, "data": {"k": "2"}});
    let patch = json!({"metadata": {"finalizers": null}, "data": {"k": "2"}});
    for (method, body) in [(Method::PUT, put), (Method::PATCH, patch)] {
        let (server, _) = start();
        let object = format!("{CONFIG_MAPS}/a");
        send_json(&server, Method::POST, CONFIG_MAPS, sent.clone()).await;
        let (_, marked) = send_json(&server, Method::DELETE, &object, Value::Null).await;
        let (code, answer) = send_json(&server, method, &object, body).await;
        let metadata = &answer["metadata"];
        assert_eq!((code, &answer["data"]), (200, &json!({"k": "2"})));
        assert_eq!(metadata["resourceVersion"], marked["metadata"]["resourceVersion"]);
        assert_eq!(metadata["deletionTimestamp"], marked["metadata"]["deletionTimestamp"]);
        assert_eq!(
            (&metadata["deletionGracePeriodSeconds"], &metadata["finalizers"]),
            (&json!(0), &Value::Null)
        );

        let version = json!(server.resource_version().to_string());
        let events = seen(&server, CONFIG_MAPS, &marked).await;
        let expected = ("DELETED".to_owned(), version, json!(0), json!(["example.com/x"]));
        assert_eq!(events, [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_deletion_answers_depends_on_the_kind() {
    let (server, _) = start();
    let service = json!({"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}});
    for (plural, body) in [("serviceaccounts", json!({"metadata": {"name": "a"}})), ("services", service)] {
        let path = format!("/api/v1/namespaces/default/{plural}");
        send_json(&server, Method::POST, &path, body).await;
        let (code, answer) = send_json(&server, Method::DELETE, &format!("{path}/a"), Value::Null).await;
        let metadata = &answer["metadata"];
        assert_eq!((code, metadata["name"].as_str()), (200, Some("a")), "{plural}: the object");
        assert_eq!(metadata["resourceVersion"], server.resource_version().to_string());
        assert_eq!(metadata["deletionTimestamp"], Value::Null);
    }
    send_json(&server, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "a"}})).await;
    let (_, namespace) = send_json(&server, Method::DELETE, "/api/v1/namespaces/a", Value::Null).await;
    assert!(namespace["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(namespace["metadata"]["deletionGracePeriodSeconds"], Value::Null);
    assert_eq!(namespace["status"]["phase"], "Terminating");
}

fn pod(node: Option<&str>) -> Value {
    json!({"metadata": {"name": "a"}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}})
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_nobody_runs_is_seen_to_go_before_it_is_gone() {
    for options in [Value::Null, json!({"gracePeriodSeconds": 5})] {
        let (server, _) = start();
        let (_, made) = send_json(&server, Method::POST, PODS, pod(None)).await;
        let precondition = json!({"resourceVersion": made["metadata"]["resourceVersion"]});
        let mut options = if options.is_null() { json!({}) } else { options };
        options["preconditions"] = precondition;
        let (code, answer) = send_json(&server, Method::DELETE, &format!("{PODS}/a"), options).await;
        let (first, last) = (server.resource_version() - 1, server.resource_version());
        let metadata = &answer["metadata"];
        assert_eq!((code, &metadata["deletionGracePeriodSeconds"]), (200, &json!(0)));
        assert_eq!(
            (&metadata["resourceVersion"], &metadata["generation"]),
            (&json!(last.to_string()), &json!(2))
        );
        let event =
            |kind: &str, version: u64| (kind.to_owned(), json!(version.to_string()), json!(0), Value::Null);
        assert_eq!(seen(&server, PODS, &made).await, [event("MODIFIED", first), event("DELETED", last)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_deletion_of_a_pod_can_only_shorten_its_time() {
    let (server, _) = start();
    let (_, made) = send_json(&server, Method::POST, PODS, pod(Some("n"))).await;
    let mut answers = Vec::new();
    for grace in [None, Some(60), Some(5), None, Some(0)] {
        let options = grace.map_or(Value::Null, |grace| json!({"gracePeriodSeconds": grace}));
        let (_, answer) = send_json(&server, Method::DELETE, &format!("{PODS}/a"), options).await;
        let field = |name: &str| answer["metadata"][name].clone();
        answers.push((field("deletionGracePeriodSeconds"), field("resourceVersion")));
        assert_eq!(field("generation"), 2);
    }
    let graces: Vec<i64> = answers.iter().map(|(grace, _)| grace.as_i64().unwrap()).collect();
    assert_eq!(graces, [30, 30, 5, 5, 0]);
    assert_eq!(
        (&answers[0], &answers[2]),
        (&answers[1], &answers[3]),
        "what changes nothing keeps the version"
    );
    let events = seen(&server, PODS, &made).await;
    let rows: Vec<_> =
        events.iter().map(|(kind, _, grace, _)| (kind.as_str(), grace.as_i64().unwrap())).collect();
    assert_eq!(rows, [("MODIFIED", 30), ("MODIFIED", 5), ("MODIFIED", 0), ("DELETED", 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_answers_as_the_deletion_would_and_deletes_nothing() {
    let (server, _) = start();
    let (_, made) = send_json(&server, Method::POST, PODS, pod(None)).await;
    let options = json!({"dryRun": ["All"]});
    let (_, answer) = send_json(&server, Method::DELETE, &format!("{PODS}/a"), options).await;
    assert_eq!(answer["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(answer["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
    let (_, left) = send_json(&server, Method::GET, &format!("{PODS}/a"), Value::Null).await;
    assert_eq!(left, made);
}

/// Clients that have asked for the dependents to go, in the words of long ago, learn that this takes time.
#[tokio::test(start_paused = true)]
async fn a_deletion_that_waits_is_accepted_if_dependents_are_not_to_be_orphans() {
    let (server, _) = start();
    for (name, body, expected) in [
        ("a", json!({"orphanDependents": false}), 202),
        ("b", json!({"orphanDependents": true}), 200),
        ("c", json!({"propagationPolicy": "Background"}), 200),
    ] {
        let sent = json!({"metadata": {"name": name, "finalizers": ["example.com/x"]}});
        send_json(&server, Method::POST, CONFIG_MAPS, sent).await;
        let object = format!("{CONFIG_MAPS}/{name}");
        let (code, answer) = send_json(&server, Method::DELETE, &object, body.clone()).await;
        assert_eq!((code, &answer["metadata"]["name"]), (expected, &name.into()), "{body}");
    }
    send_json(&server, Method::POST, CONFIG_MAPS, json!({"metadata": {"name": "d"}})).await;
    let object = format!("{CONFIG_MAPS}/d");
    let (code, _) = send_json(&server, Method::DELETE, &object, json!({"orphanDependents": false})).await;
    assert_eq!(code, 200, "it is gone at once");
}

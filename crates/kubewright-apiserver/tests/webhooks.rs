//! Admission webhooks, called in this process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use common::{dynamic, object, refusal, start};
use http::{Request, Response};
use k8s_openapi::api::{
    admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    core::v1::ConfigMap,
};
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::{ApiServer, ServiceRoute};
use parking_lot::Mutex;
use serde_json::{Value, json};

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

fn config_maps(client: &Client) -> Api<ConfigMap> {
    Api::default_namespaced(client.clone())
}

/// A server, and webhooks that note what they are asked.
struct House {
    server: ApiServer,
    client: Client,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl House {
    /// `answer` makes the response of a path and a request, without its uid.
    fn new(answer: impl Fn(&str, &Value) -> Value + Send + Sync + 'static) -> Self {
        let (server, client) = start();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = asked.clone();
        let handler = move |http: Request<Bytes>| {
            let mut review: Value = serde_json::from_slice(http.body()).unwrap();
            let request = review["request"].take();
            let mut response = answer(http.uri().path(), &request);
            response["uid"] = request["uid"].clone();
            review["response"] = response;
            noted.lock().push(request);
            async move { Response::new(Bytes::from(review.to_string())) }
        };
        server.route_service("hooks", "hook", ServiceRoute::in_process(handler));
        Self { server, client, asked }
    }

    /// One configuration with one webhook, changed by a merge of `change`.
    async fn configure<K>(&self, name: &str, change: Value)
    where
        K: kube::Resource<DynamicType = ()>
            + serde::de::DeserializeOwned
            + serde::Serialize
            + Clone
            + std::fmt::Debug,
    {
        let mut webhook = json!({
            "name": format!("{name}.example.com"), "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "hooks", "name": "hook", "path": format!("/{name}")}},
            "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
        });
        for (field, value) in change.as_object().unwrap() {
            webhook[field] = value.clone();
        }
        let configuration =
            serde_json::from_value(json!({"metadata": {"name": name}, "webhooks": [webhook]}));
        Api::<K>::all(self.client.clone())
            .create(&PostParams::default(), &configuration.unwrap())
            .await
            .unwrap();
    }

    async fn mutating(&self, name: &str, change: Value) {
        self.configure::<MutatingWebhookConfiguration>(name, change).await;
    }

    async fn validating(&self, name: &str, change: Value) {
        self.configure::<ValidatingWebhookConfiguration>(name, change).await;
    }

    async fn create(&self, name: &str) -> kube::Result<ConfigMap> {
        config_maps(&self.client).create(&PostParams::default(), &config_map(name)).await
    }

    /// What one field of the requests was, since somebody last looked.
    fn asked(&self, pointer: &str) -> Vec<Value> {
        let asked = std::mem::take(&mut *self.asked.lock());
        asked.iter().map(|request| request.pointer(pointer).cloned().unwrap_or_default()).collect()
    }
}

fn allowed() -> Value {
    json!({"allowed": true})
}

fn patched(operations: &Value) -> Value {
    json!({"allowed": true, "patchType": "JSONPatch", "patch": STANDARD.encode(operations.to_string())})
}

/// Adds the webhook's path to the annotation `seen`, if that does not end with it yet.
fn sign(path: &str, request: &Value) -> Value {
    let seen =
        request.pointer("/object/metadata/annotations/seen").and_then(Value::as_str).unwrap_or_default();
    if seen.ends_with(path) {
        return allowed();
    }
    patched(
        &json!([{"op": "add", "path": "/metadata/annotations", "value": {"seen": format!("{seen}{path}")}}]),
    )
}

fn seen(map: &ConfigMap) -> &str {
    map.metadata.annotations.as_ref().map_or("", |annotations| &annotations["seen"])
}

#[tokio::test(start_paused = true)]
async fn mutating_webhooks_are_called_by_name_and_see_what_others_did() {
    let house = House::new(sign);
    for name in ["b", "a", "c"] {
        house.mutating(name, json!({})).await;
    }
    assert_eq!(seen(&house.create("x").await.unwrap()), "/a/b/c");
    assert_eq!(house.asked("/operation"), ["CREATE"; 3]);
}

#[tokio::test(start_paused = true)]
async fn webhooks_that_ask_for_it_are_called_once_more_when_others_changed_the_object() {
    let house = House::new(sign);
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    house.mutating("a", again.clone()).await;
    house.mutating("b", json!({})).await;
    house.mutating("c", again).await;
    // `a` signs after `b` and `c`, which has `c` called, too: but not `a` a third time.
    assert_eq!(seen(&house.create("x").await.unwrap()), "/a/b/c/a/c");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_in_the_words_of_upstream() {
    let house = House::new(|path, _| match path {
        "/rude" => json!({"allowed": false}),
        _ => {
            json!({"allowed": false, "status": {"code": 403, "reason": "Forbidden", "message": "too large"}})
        }
    });
    house.validating("polite", json!({})).await;
    let (code, reason, message) = refusal(house.create("x").await);
    assert_eq!((code, &*reason), (403, "Forbidden"));
    assert_eq!(message, r#"admission webhook "polite.example.com" denied the request: too large"#);
    house.mutating("rude", json!({})).await;
    let (code, _, message) = refusal(house.create("x").await);
    assert_eq!(code, 400);
    assert_eq!(message, r#"admission webhook "rude.example.com" denied the request without explanation"#);
    assert!(config_maps(&house.client).get_opt("x").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn every_verb_is_asked_about_with_the_objects_it_has() {
    let house = House::new(|_, _| allowed());
    house.validating("a", json!({})).await;
    let maps = config_maps(&house.client);
    let mut made = house.create("x").await.unwrap();
    made.data = Some([("k".to_owned(), "v".to_owned())].into());
    maps.replace("x", &PostParams::default(), &made).await.unwrap();
    maps.patch("x", &PatchParams::default(), &Patch::Merge(json!({"data": {"k": "w"}}))).await.unwrap();
    maps.delete("x", &DeleteParams::default()).await.unwrap();
    let asked = std::mem::take(&mut *house.asked.lock());
    let read = |request: &Value| {
        let at = |pointer: &str| request.pointer(pointer).cloned().unwrap_or_default();
        json!([
            at("/operation"),
            at("/options/kind"),
            at("/object/data/k"),
            at("/oldObject/data/k"),
            at("/name")
        ])
    };
    assert_eq!(
        asked.iter().map(read).collect::<Vec<_>>(),
        [
            json!(["CREATE", "CreateOptions", null, null, "x"]),
            json!(["UPDATE", "UpdateOptions", "v", null, "x"]),
            json!(["UPDATE", "PatchOptions", "w", "v", "x"]),
            json!(["DELETE", "DeleteOptions", null, "w", "x"]),
        ]
    );
    assert_eq!(asked[0]["kind"], json!({"group": "", "version": "v1", "kind": "ConfigMap"}));
    assert_eq!(asked[0]["resource"], json!({"group": "", "version": "v1", "resource": "configmaps"}));
    assert_eq!(asked[0]["namespace"], "default");
    assert!(asked[0].pointer("/object/metadata/uid").is_some(), "a validator sees what is stored");
    assert_eq!(asked[0]["oldObject"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_may_be_refused_one_by_one() {
    let house = House::new(|_, request| json!({"allowed": request["name"] != "kept"}));
    house.validating("a", json!({"rules": [
        {"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["configmaps"]},
    ]}))
    .await;
    house.create("kept").await.unwrap();
    house.create("gone").await.unwrap();
    let maps = config_maps(&house.client);
    assert_eq!(refusal(maps.delete("kept", &DeleteParams::default()).await).0, 400);
    assert!(maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await.is_err());
    assert!(maps.get_opt("kept").await.unwrap().is_some());
    assert!(maps.get_opt("gone").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn selectors_say_which_objects_and_namespaces_are_asked_about() {
    let house = House::new(|_, _| allowed());
    let labelled = json!({"matchLabels": {"checked": "yes"}});
    house.validating("object", json!({"objectSelector": labelled})).await;
    house
        .validating(
            "namespace",
            json!({"namespaceSelector": {"matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]},
            ]}}),
        )
        .await;
    house.create("plain").await.unwrap();
    assert!(house.asked("").is_empty());
    let mut labelled = config_map("labelled");
    labelled.metadata.labels = Some([("checked".to_owned(), "yes".to_owned())].into());
    let maps = config_maps(&house.client);
    maps.create(&PostParams::default(), &labelled).await.unwrap();
    // It was selected before, and is still asked about when it loses its label.
    maps.patch("labelled", &PatchParams::default(), &Patch::Merge(json!({"metadata": {"labels": null}})))
        .await
        .unwrap();
    assert_eq!(house.asked("/operation"), ["CREATE", "UPDATE"]);
    let elsewhere = Api::<ConfigMap>::namespaced(house.client.clone(), "kube-system");
    elsewhere.create(&PostParams::default(), &config_map("plain")).await.unwrap();
    assert_eq!(house.asked("/namespace"), ["kube-system"]);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_is_asked_in_the_version_of_its_rules_unless_it_wants_the_exact_one() {
    let house = House::new(|_, _| allowed());
    let rules =
        json!([{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["events"]}]);
    house.validating("any", json!({"rules": rules})).await;
    house.validating("exact", json!({"rules": rules, "matchPolicy": "Exact"})).await;
    let events = dynamic(&house.client, "events.k8s.io", "v1", "Event", "events");
    let event = object(json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "c", "reportingInstance": "i",
        "action": "a", "reason": "r", "type": "Normal", "note": "hello",
    }));
    events.create(&PostParams::default(), &event).await.unwrap();
    let asked = std::mem::take(&mut *house.asked.lock());
    assert_eq!(asked.len(), 1, "the exact one is not asked");
    assert_eq!(asked[0]["object"]["message"], "hello", "in the version of the rules");
    assert_eq!(asked[0]["kind"]["group"], "");
    assert_eq!(asked[0]["requestKind"]["group"], "events.k8s.io");
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_does_not_answer_fails_the_request_unless_its_failures_are_ignored() {
    let house = House::new(|_, _| allowed());
    house.server.route_service("hooks", "silent", ServiceRoute::in_process(|_| std::future::pending()));
    let service = |name: &str| json!({"service": {"namespace": "hooks", "name": name}});
    let ignored =
        |name: &str| json!({"clientConfig": service(name), "failurePolicy": "Ignore", "timeoutSeconds": 1});
    house.mutating("a", ignored("silent")).await;
    house.validating("b", ignored("missing")).await;
    let begun = tokio::time::Instant::now();
    house.create("x").await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 1);
    house.validating("c", json!({"clientConfig": service("silent"), "timeoutSeconds": 3})).await;
    let (code, reason, message) = refusal(house.create("y").await);
    assert_eq!((code, &*reason), (500, "InternalError"));
    assert_eq!(
        message,
        "Internal error occurred: failed calling webhook \"c.example.com\": failed to call webhook: \
         Post \"https://silent.hooks.svc:443/?timeout=3s\": context deadline exceeded"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_only_tried_has_side_effects() {
    let house = House::new(|_, _| allowed());
    let maps = config_maps(&house.client);
    let tried = PostParams { dry_run: true, ..PostParams::default() };
    house.validating("a", json!({})).await;
    maps.create(&tried, &config_map("x")).await.unwrap();
    assert_eq!(house.asked("/dryRun"), [json!(true)]);
    assert!(maps.get_opt("x").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn what_a_webhook_makes_of_an_object_is_judged_and_filled_in() {
    let house = House::new(|path, _| match path {
        "/renames" => patched(&json!([{"op": "replace", "path": "/metadata/name", "value": "A_B"}])),
        "/breaks" => patched(&json!([{"op": "remove", "path": "/nowhere"}])),
        _ => json!({"allowed": true, "patch": "e30="}),
    });
    let only = |name: &str| json!({"objectSelector": {"matchLabels": {"hook": name}}});
    for name in ["renames", "breaks", "nonsense"] {
        house.mutating(name, only(name)).await;
    }
    let create = async |hook: &str| {
        let mut map = config_map("x");
        map.metadata.labels = Some([("hook".to_owned(), hook.to_owned())].into());
        refusal(config_maps(&house.client).create(&PostParams::default(), &map).await)
    };
    assert_eq!(create("renames").await.0, 422);
    assert_eq!(create("breaks").await.0, 500);
    let (code, _, message) = create("nonsense").await;
    let expected = "failed calling webhook \"nonsense.example.com\": received invalid webhook response: webhook returned response.patch but not response.patchType";
    assert_eq!((code, message), (500, format!("Internal error occurred: {expected}")));
}

#[tokio::test(start_paused = true)]
async fn webhook_configurations_are_never_asked_about() {
    let house = House::new(|_, _| json!({"allowed": false}));
    let all = json!([{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]);
    house.validating("a", json!({"rules": all})).await;
    assert!(house.create("x").await.is_err());
    house.validating("b", json!({"rules": all})).await;
    let configurations = Api::<ValidatingWebhookConfiguration>::all(house.client.clone());
    for name in ["a", "b"] {
        configurations.delete(name, &DeleteParams::default()).await.unwrap();
    }
    house.create("x").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_scale_is_asked_about_as_a_scale() {
    let house = House::new(|_, request| {
        assert_eq!(request["kind"], json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}));
        patched(&json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]))
    });
    let rules = json!([{"operations": ["UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments/scale"]}]);
    house.mutating("a", json!({"rules": rules})).await;
    let deployments = dynamic(&house.client, "apps", "v1", "Deployment", "deployments");
    let deployment: DynamicObject = object(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    }));
    deployments.create(&PostParams::default(), &deployment).await.unwrap();
    deployments
        .patch_scale("web", &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": 3}})))
        .await
        .unwrap();
    assert_eq!(deployments.get("web").await.unwrap().data["spec"]["replicas"], 7);
    assert_eq!(house.asked("/subResource"), ["scale"]);
}

#[tokio::test(start_paused = true)]
async fn warnings_reach_the_client_whatever_happens() {
    let house =
        House::new(|_, request| json!({"allowed": request["name"] == "good", "warnings": ["be careful"]}));
    house.validating("a", json!({})).await;
    for name in ["good", "bad"] {
        let request = Request::post("/api/v1/namespaces/default/configmaps")
            .header("content-type", "application/json")
            .body(kube::client::Body::from(
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
                    .to_string()
                    .into_bytes(),
            ))
            .unwrap();
        let answer = house.client.send(request).await.unwrap();
        assert_eq!(answer.status().is_success(), name == "good");
        assert_eq!(answer.headers()["warning"], "299 - \"be careful\"");
    }
}

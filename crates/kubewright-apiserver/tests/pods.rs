//! What becomes of pods by way of their subresources.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{send_json, start};
use http::Method;
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

async fn make(server: &ApiServer, name: &str) -> Value {
    let pod = json!({"metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let (code, made) = send_json(server, Method::POST, PODS, pod).await;
    assert_eq!(code, 201);
    made
}

async fn get(server: &ApiServer, path: &str) -> (u16, Value) {
    send_json(server, Method::GET, path, Value::Null).await
}

async fn bind(server: &ApiServer, pod: &str, binding: Value) -> (u16, Value) {
    send_json(server, Method::POST, &format!("{PODS}/{pod}/binding"), binding).await
}

async fn evict(server: &ApiServer, pod: &str, options: Value) -> (u16, Value) {
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod},
        "deleteOptions": options});
    send_json(server, Method::POST, &format!("{PODS}/{pod}/eviction"), eviction).await
}

/// A running pod, ready or not.
async fn run(server: &ApiServer, pod: &str, ready: &str) {
    let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]});
    let (code, _) =
        send_json(server, Method::PATCH, &format!("{PODS}/{pod}/status"), json!({"status": status})).await;
    assert_eq!(code, 200);
}

/// A budget for pods with the label `app=a`, as a controller has left it.
async fn budget(server: &ApiServer, name: &str, status: Value) {
    let spec = json!({"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}});
    send_json(server, Method::POST, BUDGETS, json!({"metadata": {"name": name}, "spec": spec})).await;
    let (code, _) =
        send_json(server, Method::PATCH, &format!("{BUDGETS}/{name}/status"), json!({"status": status}))
            .await;
    assert_eq!(code, 200);
}

#[tokio::test(start_paused = true)]
async fn a_binding_gives_a_pod_its_node_once() {
    let (server, _) = start();
    let made = make(&server, "a").await;
    let binding =
        |node: &str| json!({"metadata": {"name": "a", "annotations": {"b": "c"}}, "target": {"name": node}});

    let (code, answer) =
        bind(&server, "a", json!({"metadata": {"name": "b"}, "target": {"name": "n"}})).await;
    let message = "name in URL does not match name in Binding object";
    assert_eq!((code, &answer["message"]), (400, &message.into()));
    let mut stale = binding("n");
    stale["metadata"]["uid"] = "other".into();
    assert_eq!(bind(&server, "a", stale).await.0, 409);
    let (code, _) =
        send_json(&server, Method::POST, &format!("{PODS}/a/binding?dryRun=All"), binding("n")).await;
    assert_eq!((code, get(&server, &format!("{PODS}/a")).await.1), (201, made));

    let (code, answer) = bind(&server, "a", binding("n")).await;
    let success =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    assert_eq!((code, answer), (201, success));
    let (_, pod) = get(&server, &format!("{PODS}/a")).await;
    assert_eq!(
        (&pod["spec"]["nodeName"], &pod["metadata"]["annotations"]),
        (&"n".into(), &json!({"b": "c"}))
    );
    let condition = &pod["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&"PodScheduled".into(), &"True".into()));

    let (code, answer) = bind(&server, "a", binding("m")).await;
    let message =
        "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n\"";
    assert_eq!((code, &answer["message"]), (409, &message.into()));
    assert_eq!(bind(&server, "x", json!({"metadata": {"name": "x"}, "target": {"name": "n"}})).await.0, 404);
    assert_eq!(get(&server, &format!("{PODS}/a/binding")).await.0, 405);
}

#[tokio::test(start_paused = true)]
async fn an_eviction_deletes_a_pod_that_no_budget_counts() {
    let (server, _) = start();
    make(&server, "a").await;
    run(&server, "a", "True").await;
    assert_eq!(evict(&server, "a", json!({"dryRun": ["All"]})).await.0, 201);
    assert_eq!(get(&server, &format!("{PODS}/a")).await.0, 200);
    assert_eq!(evict(&server, "a", json!({"preconditions": {"uid": "other"}})).await.0, 409);
    let (code, answer) = evict(&server, "a", Value::Null).await;
    assert_eq!((code, &answer["status"]), (201, &"Success".into()));
    assert_eq!(get(&server, &format!("{PODS}/a")).await.0, 404);
    assert_eq!(evict(&server, "a", Value::Null).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_budget_lets_as_many_pods_go_as_it_allows() {
    let (server, _) = start();
    for name in ["a", "b", "c"] {
        make(&server, name).await;
        run(&server, name, "True").await;
    }
    let healthy =
        json!({"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 1});
    budget(&server, "p", healthy).await;
    assert_eq!(evict(&server, "a", Value::Null).await.0, 201);
    let (_, spent) = get(&server, &format!("{BUDGETS}/p")).await;
    assert_eq!(spent["status"]["disruptionsAllowed"], 0);
    assert!(spent["status"]["disruptedPods"]["a"].is_string());

    let (code, answer) = evict(&server, "b", Value::Null).await;
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    assert_eq!(
        (code, &answer["message"], &answer["reason"]),
        (429, &message.into(), &"TooManyRequests".into())
    );
    let cause = "The disruption budget p needs 1 healthy pods and has 1 currently";
    assert_eq!(answer["details"]["causes"], json!([{"reason": "DisruptionBudget", "message": cause}]));
    // What is not ready is not counted as long as enough others are.
    run(&server, "c", "False").await;
    assert_eq!(evict(&server, "c", Value::Null).await.0, 201);

    budget(&server, "q", json!({"observedGeneration": 1, "disruptionsAllowed": 1})).await;
    let (code, answer) = evict(&server, "b", Value::Null).await;
    let message =
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    assert_eq!((code, &answer["message"]), (500, &message.into()));
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_nobody_has_looked_at_lets_nothing_go_but_what_does_not_run() {
    let (server, _) = start();
    make(&server, "a").await;
    run(&server, "a", "True").await;
    make(&server, "pending").await;
    budget(&server, "p", json!({"disruptionsAllowed": 5})).await;
    let (code, answer) = evict(&server, "a", Value::Null).await;
    assert_eq!((code, &answer["details"]["retryAfterSeconds"]), (429, &10.into()));
    assert_eq!(evict(&server, "pending", Value::Null).await.0, 201);
}

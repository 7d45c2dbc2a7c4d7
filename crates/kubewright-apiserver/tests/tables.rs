//! What `kubectl get` shows of built-in kinds, also with `-o wide`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{send_json, start};
use http::{Method, Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tower_service::Service;

/// The names of the columns, and the cells of the last row. Ages are left out.
async fn table(server: &ApiServer, path: &str) -> (Vec<String>, Vec<Value>) {
    let request = Request::get(path)
        .header(header::ACCEPT, "application/json;as=Table;v=v1;g=meta.k8s.io")
        .body(Full::<bytes::Bytes>::default());
    let response = server.service().call(request.unwrap()).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let table: Value = serde_json::from_slice(&body).unwrap();
    let columns = table["columnDefinitions"].as_array().unwrap();
    let names: Vec<String> =
        columns.iter().map(|column| column["name"].as_str().unwrap().to_owned()).collect();
    let row = table["rows"].as_array().unwrap().last().unwrap();
    let mut cells = row["cells"].as_array().unwrap().clone();
    if let Some(age) = names.iter().position(|name| name == "Age") {
        cells[age] = Value::Null;
    }
    (names, cells)
}

/// Creates an object, writes its status, and compares what is shown of it.
async fn check(path: &str, object: Value, status: Value, columns: &str, cells: Value) {
    let (server, _) = start();
    let (code, made) = send_json(&server, Method::POST, path, object).await;
    assert_eq!(code, 201, "{made}");
    if !status.is_null() {
        let name = made["metadata"]["name"].as_str().unwrap();
        let path = format!("{path}/{name}/status");
        assert_eq!(send_json(&server, Method::PATCH, &path, json!({"status": status})).await.0, 200);
    }
    let (names, found) = table(&server, path).await;
    assert_eq!(names.join(" | "), columns);
    assert_eq!(Value::from(found), cells, "{columns}");
}

#[tokio::test]
async fn nodes_and_pods_show_where_they_are_and_how_they_do() {
    check(
        "/api/v1/nodes",
        json!({"metadata": {"name": "n", "labels": {"node-role.kubernetes.io/control-plane": ""}}, "spec": {"unschedulable": true}}),
        json!({
            "conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.37.0", "osImage": "Linux"},
            "addresses": [{"type": "InternalIP", "address": "10.1.1.1"}],
        }),
        "Name | Status | Roles | Age | Version | Internal-IP | External-IP | OS-Image | Kernel-Version | Container-Runtime",
        json!(["n", "Ready,SchedulingDisabled", "control-plane", null, "v1.37.0", "10.1.1.1", "<none>", "Linux", "<unknown>", "<unknown>"]),
    )
    .await;
    check(
        "/api/v1/namespaces/default/pods",
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], "readinessGates": [{"conditionType": "Up"}]}}),
        json!({"phase": "Running", "conditions": [{"type": "Up", "status": "True"}]}),
        "Name | Ready | Status | Restarts | Age | IP | Node | Nominated Node | Readiness Gates",
        json!(["p", "0/1", "Running", "0", null, "<none>", "<none>", "<none>", "1/1"]),
    )
    .await;
}

#[tokio::test]
async fn services_show_their_ports_and_what_they_select() {
    check(
        "/api/v1/namespaces/default/services",
        json!({"metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "selector": {"a": "b"}, "clusterIP": "10.0.0.9",
            "ports": [{"port": 80, "nodePort": 30001}]}}),
        Value::Null,
        "Name | Type | Cluster-IP | External-IP | Port(s) | Age | Selector",
        json!(["s", "LoadBalancer", "10.0.0.9", "<pending>", "80:30001/TCP", null, "a=b"]),
    )
    .await;
}

#[tokio::test]
async fn workloads_show_their_containers() {
    let template = json!({"metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]}});
    check(
        "/apis/apps/v1/namespaces/default/deployments",
        json!({"metadata": {"name": "w"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}),
        Value::Null,
        "Name | Ready | Up-to-date | Available | Age | Containers | Images | Selector",
        json!(["w", "0/1", "0", "0", null, "c,d", "i,j", "a=b"]),
    )
    .await;
    check(
        "/apis/batch/v1/namespaces/default/jobs",
        json!({"metadata": {"name": "j"}, "spec": {"template": template}}),
        json!({"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:01:30Z", "succeeded": 1,
            "conditions": [{"type": "Complete", "status": "True"}]}),
        "Name | Status | Completions | Duration | Age | Containers | Images | Selector",
        json!(["j", "Complete", "1/1", "90s", null, "c,d", "i,j", "<none>"]),
    )
    .await;
}

#[tokio::test]
async fn events_show_when_they_were_seen_instead_of_their_age() {
    check(
        "/api/v1/namespaces/default/events",
        json!({"metadata": {"name": "e"}, "type": "Normal", "reason": "Because", "message": "text ", "count": 3,
            "involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "me", "host": "here"}}),
        Value::Null,
        "Last Seen | Type | Reason | Object | Subobject | Source | Message | First Seen | Count | Name",
        json!(["<unknown>", "Normal", "Because", "pod/p", "", "me, here", "text", "<unknown>", "3", "e"]),
    )
    .await;
}

#[tokio::test]
async fn policies_show_what_they_allow() {
    check(
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        json!({"metadata": {"name": "b"}, "spec": {"minAvailable": "50%"}}),
        Value::Null,
        "Name | Min Available | Max Unavailable | Allowed Disruptions | Age",
        json!(["b", "50%", "N/A", 0, null]),
    )
    .await;
    check(
        "/api/v1/namespaces/default/resourcequotas",
        json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "3"}}}),
        json!({"hard": {"limits.cpu": "2", "pods": "3"}, "used": {"pods": "1"}}),
        "Name | Request | Limit | Age",
        json!(["q", "pods: 1/3", "limits.cpu: 0/2", null]),
    )
    .await;
    check(
        "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
        json!({"metadata": {"name": "i"}, "spec": {"rules": [{"host": "example.com"}], "tls": [{}]}}),
        Value::Null,
        "Name | Class | Hosts | Address | Ports | Age",
        json!(["i", "<none>", "example.com", "", "80, 443", null]),
    )
    .await;
    check(
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        json!({"metadata": {"name": "high"}, "value": 10}),
        Value::Null,
        "Name | Value | Global-Default | Age | PreemptionPolicy",
        json!(["high", 10, false, null, "PreemptLowerPriority"]),
    )
    .await;
}

#[tokio::test]
async fn what_a_cluster_is_set_up_with_shows_what_it_is() {
    check(
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        json!({"metadata": {"name": "s"}, "addressType": "IPv4", "ports": [{"port": 80}, {"name": "web"}],
            "endpoints": [{"addresses": ["10.1.1.1", "10.1.1.2", "10.1.1.3", "10.1.1.4"]}]}),
        Value::Null,
        "Name | AddressType | Ports | Endpoints | Age",
        json!(["s", "IPv4", "80,web", "10.1.1.1,10.1.1.2,10.1.1.3 + 1 more...", null]),
    )
    .await;
    check(
        "/api/v1/namespaces/default/podtemplates",
        json!({"metadata": {"name": "t"}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}),
        Value::Null,
        "Name | Containers | Images | Pod Labels",
        json!(["t", "c", "i", "a=b"]),
    )
    .await;
    check(
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
        json!({"metadata": {"name": "f"}, "spec": {"priorityLevelConfiguration": {"name": "p"}}}),
        json!({"conditions": [{"type": "Dangling", "status": "True"}]}),
        "Name | PriorityLevel | MatchingPrecedence | DistinguisherMethod | Age | MissingPL",
        json!(["f", "p", 1000, "<none>", null, "True"]),
    )
    .await;
    check(
        "/apis/apiregistration.k8s.io/v1/apiservices",
        json!({"metadata": {"name": "v1.example.com"}, "spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 1,
            "versionPriority": 1, "service": {"namespace": "a", "name": "b"}}}),
        json!({"conditions": [{"type": "Available", "status": "False", "reason": "Down"}]}),
        "Name | Service | Available | Age",
        json!(["v1.example.com", "a/b", "False (Down)", null]),
    )
    .await;
    check(
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
        json!({"metadata": {"name": "c"}, "spec": {}}),
        json!({"allocation": {}, "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}),
        "Name | State | Age",
        json!(["c", "allocated,reserved", null]),
    )
    .await;
}

//! Services: their addresses and ports, and what a change of their type does to them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{dynamic, object, refusal, send_json, start};
use http::Method;
use kube::api::{DeleteParams, PostParams};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn services_get_an_address_and_give_it_back() {
    let (_server, client) = start();
    let services = dynamic(&client, "", "v1", "Service", "services");
    let service = |name: &str, address: Option<&str>| {
        let mut service = object(
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}),
        );
        if let Some(address) = address {
            service.data["spec"]["clusterIP"] = address.into();
        }
        service
    };
    let params = PostParams::default();
    let first = services.create(&params, &service("a", None)).await.unwrap();
    assert_eq!(first.data["spec"]["clusterIP"], "10.0.0.2");
    assert_eq!(first.data["spec"]["ports"][0], json!({"port": 80, "protocol": "TCP", "targetPort": 80}));
    let kept = services.replace("a", &params, &service("a", None)).await.unwrap();
    assert_eq!(kept.data["spec"]["clusterIP"], "10.0.0.2");
    let (code, _, message) = refusal(services.create(&params, &service("b", Some("10.0.0.2"))).await);
    assert_eq!(code, 422);
    assert!(message.contains("provided IP is already allocated"));
    services.delete("a", &DeleteParams::default()).await.unwrap();
    services.create(&params, &service("b", Some("10.0.0.2"))).await.unwrap();
    let headless = services.create(&params, &service("c", Some("None"))).await.unwrap();
    assert_eq!(headless.data["spec"]["clusterIP"], "None");
}

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(spec: Value) -> Value {
    let mut spec = spec;
    if spec.get("ports").is_none() {
        spec["ports"] = json!([{"port": 80}]);
    }
    json!({"metadata": {"name": "a"}, "spec": spec})
}

/// The message of a refusal, or the spec.
async fn create(server: &ApiServer, spec: Value) -> Result<Value, String> {
    outcome(send_json(server, Method::POST, SERVICES, service(spec)).await)
}

async fn patch(server: &ApiServer, spec: Value) -> Result<Value, String> {
    outcome(send_json(server, Method::PATCH, &format!("{SERVICES}/a"), json!({"spec": spec})).await)
}

fn outcome((code, mut answer): (u16, Value)) -> Result<Value, String> {
    if code < 400 {
        return Ok(answer["spec"].take());
    }
    let message = answer["message"].as_str().unwrap();
    Err(message.strip_prefix("Service \"a\" is invalid: ").unwrap_or(message).to_owned())
}

#[tokio::test]
async fn an_address_does_not_change() {
    let (server, _) = start();
    let made = create(&server, json!({})).await.unwrap();
    for same in [json!({"clusterIP": null}), json!({"clusterIPs": null}), json!({"clusterIP": ""})] {
        assert_eq!(patch(&server, same).await.as_ref(), Ok(&made));
    }
    for (other, message) in [
        (
            json!({"clusterIP": "10.0.0.77"}),
            "spec.clusterIPs[0]: Invalid value: [\"10.0.0.77\"]: may not change once set",
        ),
        (
            json!({"clusterIP": "None"}),
            "spec.clusterIPs[0]: Invalid value: [\"None\"]: may not change once set",
        ),
        (
            json!({"clusterIPs": ["10.0.0.77"]}),
            "spec.clusterIPs: Invalid value: [\"10.0.0.77\"]: first value must match `clusterIP`",
        ),
    ] {
        assert_eq!(patch(&server, other).await.unwrap_err(), message);
    }
}

#[tokio::test]
async fn what_a_service_has_follows_its_type() {
    let (server, _) = start();
    create(&server, json!({})).await.unwrap();
    let node_port = patch(&server, json!({"type": "NodePort"})).await.unwrap();
    let port = node_port["ports"][0]["nodePort"].as_i64().unwrap();
    assert!((30_000..=32_767).contains(&port));
    assert_eq!(node_port["externalTrafficPolicy"], "Cluster");
    let (_, replaced) =
        send_json(&server, Method::PUT, &format!("{SERVICES}/a"), service(json!({"type": "NodePort"}))).await;
    assert_eq!(replaced["spec"], node_port, "what a replacement leaves out stays");

    let balanced = patch(&server, json!({"type": "LoadBalancer"})).await.unwrap();
    assert_eq!(
        (&balanced["ports"], &balanced["allocateLoadBalancerNodePorts"]),
        (&node_port["ports"], &json!(true))
    );
    let inner = patch(&server, json!({"type": "ClusterIP"})).await.unwrap();
    for field in ["externalTrafficPolicy", "allocateLoadBalancerNodePorts"] {
        assert_eq!(inner.get(field), None, "{field}");
    }
    assert_eq!(inner["ports"][0].get("nodePort"), None);

    assert_eq!(
        patch(&server, json!({"type": "ExternalName"})).await.unwrap_err(),
        "spec.externalName: Required value"
    );
    let alias = patch(&server, json!({"type": "ExternalName", "externalName": "example.com"})).await.unwrap();
    assert_eq!(
        alias,
        json!({"type": "ExternalName", "externalName": "example.com", "sessionAffinity": "None", "ports": inner["ports"]})
    );
    let again = patch(&server, json!({"type": "ClusterIP", "externalName": null})).await.unwrap();
    assert_eq!(again, inner);
}

#[tokio::test]
async fn what_is_given_back_is_free_and_what_was_refused_was_never_taken() {
    let (server, _) = start();
    let asked =
        json!({"type": "NodePort", "clusterIP": "10.0.0.9", "ports": [{"port": 80, "nodePort": 30001}]});
    let dry = format!("{SERVICES}?dryRun=All");
    assert_eq!(send_json(&server, Method::POST, &dry, service(asked.clone())).await.0, 201);
    let taken = json!({"type": "NodePort", "clusterIP": "10.0.0.9", "ports": [{"port": 80, "nodePort": 1}]});
    let message = "spec.ports[0].nodePort: Invalid value: 1: provided port is not in the valid range. The range of valid ports is 30000-32767";
    assert_eq!(create(&server, taken).await.unwrap_err(), message);
    create(&server, asked.clone()).await.unwrap();

    let mut other = service(json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30001}]}));
    other["metadata"]["name"] = "b".into();
    let (code, status) = send_json(&server, Method::POST, SERVICES, other.clone()).await;
    let message = status["message"].as_str().unwrap();
    assert_eq!(
        (code, message.ends_with("nodePort: Invalid value: 30001: provided port is already allocated")),
        (422, true)
    );
    // A type that needs none gives both back, and so does a deletion.
    patch(&server, json!({"type": "ExternalName", "externalName": "example.com"})).await.unwrap();
    assert_eq!(send_json(&server, Method::POST, SERVICES, other).await.0, 201);
    send_json(&server, Method::DELETE, &format!("{SERVICES}/b"), Value::Null).await;
    send_json(&server, Method::DELETE, &format!("{SERVICES}/a"), Value::Null).await;
    create(&server, asked).await.unwrap();
}

#[tokio::test]
async fn a_service_that_cannot_be_is_refused() {
    let (server, _) = start();
    for (spec, message) in [
        (json!({"ports": []}), "spec.ports: Required value"),
        (json!({"ports": [{"port": 1}, {"port": 2, "name": "b"}]}), "spec.ports[0].name: Required value"),
        (json!({"type": "ExternalName"}), "spec.externalName: Required value"),
        (
            json!({"type": "Nope"}),
            "spec.type: Unsupported value: \"Nope\": supported values: \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\"",
        ),
        (
            json!({"type": "NodePort", "clusterIP": "None"}),
            "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
        ),
        (
            json!({"ports": [{"port": 1, "nodePort": 30002}]}),
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
        ),
        (
            json!({"clusterIP": "1.2.3.4"}),
            "spec.clusterIPs: Invalid value: [\"1.2.3.4\"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range",
        ),
        (
            json!({"clusterIP": "abc"}),
            "spec.clusterIPs[0]: Invalid value: \"abc\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        ),
    ] {
        assert_eq!(create(&server, spec).await.unwrap_err(), message);
    }
}

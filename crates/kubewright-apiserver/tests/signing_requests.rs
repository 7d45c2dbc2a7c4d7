//! Requests for certificates, and who approves them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{send_json, start};
use http::Method;
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/// `-----BEGIN CERTIFICATE REQUEST-----`, an empty sequence, and the end.
const PEM: &str =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUFBPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";

fn request(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {
        "request": PEM, "signerName": "example.com/signer", "usages": ["client auth"], "username": "somebody else",
    }})
}

async fn patch(server: &ApiServer, part: &str, status: Value) -> (u16, Value) {
    send_json(server, Method::PATCH, &format!("{REQUESTS}/a{part}"), json!({"status": status})).await
}

#[tokio::test(start_paused = true)]
async fn a_request_says_who_has_made_it_and_stays_what_it_is() {
    let (server, _) = start();
    let (code, made) = send_json(&server, Method::POST, REQUESTS, request("a")).await;
    assert_eq!((code, &made["spec"]["username"], &made["status"]), (201, &"admin".into(), &json!({})));
    assert_eq!(made["spec"]["groups"], json!(["system:masters", "system:authenticated"]));
    let change = json!({"spec": {"signerName": "example.com/other"}, "metadata": {"labels": {"b": "c"}}});
    let (code, changed) = send_json(&server, Method::PATCH, &format!("{REQUESTS}/a"), change).await;
    assert_eq!(
        (code, &changed["spec"], &changed["metadata"]["labels"]["b"]),
        (200, &made["spec"], &"c".into())
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_no_request_is_refused() {
    let (server, _) = start();
    let mut wrong = request("a");
    wrong["spec"] =
        json!({"request": "bm9uZQ==", "signerName": "signer", "usages": ["other"], "expirationSeconds": 5});
    let (code, answer) = send_json(&server, Method::POST, REQUESTS, wrong).await;
    let fields: Vec<_> = answer["details"]["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| cause["field"].as_str().unwrap())
        .collect();
    let expected = ["spec.request", "spec.usages[0]", "spec.signerName", "spec.expirationSeconds"];
    assert_eq!((code, fields), (422, expected.to_vec()));
}

#[tokio::test(start_paused = true)]
async fn only_approval_approves_and_only_the_status_takes_a_certificate() {
    let (server, _) = start();
    send_json(&server, Method::POST, REQUESTS, request("a")).await;
    let approved = json!({"conditions": [{"type": "Approved", "status": "True", "reason": "Good"}], "certificate": "YQ=="});
    let (code, answer) = patch(&server, "/status", approved.clone()).await;
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("updates may not add a condition of type \"Approved\""), "{message}");
    assert_eq!(code, 422);
    let (code, answer) = patch(&server, "/approval", approved.clone()).await;
    let condition = &answer["status"]["conditions"][0];
    assert_eq!(
        (code, &condition["reason"], answer["status"].get("certificate")),
        (200, &"Good".into(), None)
    );
    assert!(condition["lastUpdateTime"].is_string() && condition["lastTransitionTime"].is_string());
    let (code, answer) = patch(&server, "/approval", json!({"conditions": []})).await;
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("updates may not remove a condition of type \"Approved\""), "{code} {message}");
    let both = json!({"conditions": [condition, {"type": "Denied", "status": "True"}]});
    let (_, answer) = patch(&server, "/approval", both).await;
    assert!(
        answer["message"].as_str().unwrap().contains("Approved and Denied conditions are mutually exclusive")
    );

    let (code, answer) = patch(&server, "/status", json!({"certificate": "YQ=="})).await;
    assert_eq!((code, &answer["status"]["certificate"]), (200, &"YQ==".into()));
    assert_eq!(patch(&server, "/status", json!({"certificate": "Yg=="})).await.0, 422);
    let (code, shown) = send_json(&server, Method::GET, &format!("{REQUESTS}/a/approval"), Value::Null).await;
    assert_eq!((code, shown), (200, answer));
}

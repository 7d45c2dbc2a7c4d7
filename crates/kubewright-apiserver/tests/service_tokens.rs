//! Tokens of service accounts.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{config_maps, refusal, send_json, start};
use http::Method;
use kube::{Client, Config, api::ListParams, config::AuthInfo};
use kubewright_apiserver::{ApiServer, ListenOptions, Listener, Transport};
use serde_json::{Value, json};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

async fn make_account(server: &ApiServer) -> Value {
    let (code, made) =
        send_json(server, Method::POST, ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    assert_eq!(code, 201);
    made
}

async fn ask(server: &ApiServer, spec: Value) -> (u16, Value) {
    send_json(server, Method::POST, &format!("{ACCOUNTS}/robot/token"), json!({"spec": spec})).await
}

#[tokio::test(start_paused = true)]
async fn a_token_request_is_answered_with_a_token() {
    let (server, _) = start();
    let account = make_account(&server).await;
    let (code, answer) = ask(&server, json!({})).await;
    assert_eq!(
        (code, &answer["kind"], &answer["metadata"]["uid"]),
        (201, &"TokenRequest".into(), &account["metadata"]["uid"])
    );
    assert_eq!(answer["spec"]["expirationSeconds"], 3600);
    assert!(answer["status"]["expirationTimestamp"].is_string());
    assert_eq!(answer["status"]["token"].as_str().unwrap().split('.').count(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_asked_for_is_refused() {
    let (server, _) = start();
    let (code, _) = ask(&server, json!({})).await;
    assert_eq!(code, 404, "there is no such account");
    make_account(&server).await;
    let (code, answer) = ask(&server, json!({"expirationSeconds": 5})).await;
    let message = "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes";
    assert_eq!((code, &answer["message"]), (422, &message.into()));
    let reference = |kind: &str, uid: &str| json!({"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": "a", "uid": uid}});
    assert_eq!(ask(&server, reference("ConfigMap", "")).await.0, 400);
    assert_eq!(ask(&server, reference("Secret", "")).await.0, 404);
    let secrets = "/api/v1/namespaces/default/secrets";
    send_json(&server, Method::POST, secrets, json!({"metadata": {"name": "a"}})).await;
    assert_eq!(ask(&server, reference("Secret", "other")).await.0, 409);
    assert_eq!(ask(&server, reference("Secret", "")).await.0, 201);
}

async fn listen(server: &ApiServer) -> Listener {
    let mut options = ListenOptions::default();
    options.transport = Transport::Plain;
    options.token = Some("secret".into());
    server.listen(options).await.unwrap()
}

fn holder(listener: &Listener, token: &Value) -> Client {
    let mut config = Config::new(listener.url().parse().unwrap());
    config.default_retry = false;
    let token = token.as_str().unwrap().to_owned().into();
    config.auth_info = AuthInfo { token: Some(token), ..AuthInfo::default() };
    Client::try_from(config).unwrap()
}

#[tokio::test]
async fn whoever_holds_a_token_is_its_account_until_that_is_gone() {
    let (server, _) = start();
    let account = make_account(&server).await;
    let secrets = "/api/v1/namespaces/default/secrets";
    send_json(&server, Method::POST, secrets, json!({"metadata": {"name": "a"}})).await;
    let bound = json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "a"}});
    let tokens = [
        ask(&server, json!({})).await.1,
        ask(&server, bound).await.1,
        ask(&server, json!({"audiences": ["x"]})).await.1,
    ];
    let listener = listen(&server).await;
    let [free, bound, other] = tokens.map(|answer| holder(&listener, &answer["status"]["token"]));
    let requests = server.record_requests();
    let list = async |client: &Client| config_maps(client).list(&ListParams::default()).await;
    assert!(list(&free).await.is_ok() && list(&bound).await.is_ok());
    assert_eq!(refusal(list(&other).await).0, 401, "it is for somebody else");
    let user = requests.requests().remove(0).user;
    assert_eq!(
        (user.name.as_str(), &*user.uid),
        ("system:serviceaccount:default:robot", account["metadata"]["uid"].as_str().unwrap())
    );
    assert!(user.is_in("system:serviceaccounts:default") && user.is_in("system:authenticated"));
    assert!(user.extra.contains_key("authentication.kubernetes.io/credential-id"));

    send_json(&server, Method::DELETE, &format!("{secrets}/a"), Value::Null).await;
    assert_eq!(refusal(list(&bound).await).0, 401);
    assert!(list(&free).await.is_ok());
    send_json(&server, Method::DELETE, &format!("{ACCOUNTS}/robot"), Value::Null).await;
    make_account(&server).await;
    assert_eq!(refusal(list(&free).await).0, 401, "another account of the same name");
    listener.shutdown().await;
}

//! Admission: reviews in, responses out.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::webhook::{
    Webhook, WebhookServer,
    admission::{AdmissionRequest, AdmissionResponse, Defaulter, Handler, Validator, Warnings},
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::house::House;

/// Adds `size: small`; refuses, panics, or answers as the API server did if the map says so.
struct Maps;

#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("size is wrong")]
    Size,
    #[error("failed to look around")]
    Api(#[from] kubewright::kube::Error),
}

impl Defaulter<ConfigMap> for Maps {
    type Error = Refused;

    async fn default(&self, _: &AdmissionRequest, map: &mut ConfigMap) -> Result<(), Refused> {
        let data = map.data.get_or_insert_default();
        assert_ne!(data.get("size").map(String::as_str), Some("panic"), "as it was told");
        data.entry("size".to_owned()).or_insert("small".to_owned());
        Ok(())
    }
}

impl Validator<ConfigMap> for Maps {
    type Error = kubewright::BoxError;

    async fn validate_create(
        &self,
        _: &AdmissionRequest,
        map: &ConfigMap,
        warnings: &Warnings,
    ) -> Result<(), Self::Error> {
        warnings.add("maps are old");
        match size(map) {
            "wrong" => Err(Refused::Size.into()),
            "gone" => Err(api_error().into()),
            _ => Ok(()),
        }
    }

    async fn validate_update(
        &self,
        _: &AdmissionRequest,
        old: &ConfigMap,
        new: &ConfigMap,
        _: &Warnings,
    ) -> Result<(), Self::Error> {
        if size(old) == size(new) { Ok(()) } else { Err("size is fixed".into()) }
    }

    async fn validate_delete(
        &self,
        _: &AdmissionRequest,
        map: &ConfigMap,
        _: &Warnings,
    ) -> Result<(), Self::Error> {
        if size(map) == "kept" { Err("it is kept".into()) } else { Ok(()) }
    }
}

/// Doubles what the handler before it left.
struct Twice;

impl Handler for Twice {
    async fn handle(&self, request: &AdmissionRequest) -> AdmissionResponse {
        let mut object = request.object.clone().unwrap();
        let size = object["data"]["size"].as_str().unwrap().repeat(2);
        object["data"]["size"] = size.into();
        AdmissionResponse::patched(object)
    }
}

fn size(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|data| data.get("size")).map_or("", String::as_str)
}

fn api_error() -> kubewright::kube::Error {
    let status = json!({"status": "Failure", "code": 410, "reason": "Gone", "message": "it is gone"});
    kubewright::kube::Error::Api(serde_json::from_value(status).unwrap())
}

const MUTATE: &str = "/mutate--v1-configmap";
const VALIDATE: &str = "/validate--v1-configmap";

fn map(size: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"size": size}, "newer": 1})
}

fn review(operation: &str, old: Option<Value>, new: Option<Value>) -> Value {
    let mut review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": operation, "name": "m", "namespace": "default",
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        },
    });
    review["request"]["oldObject"] = old.unwrap_or_default();
    review["request"]["object"] = new.unwrap_or_default();
    review
}

struct Calls(House, std::net::SocketAddr);

impl Calls {
    async fn begin(webhook: Webhook<ConfigMap>) -> Self {
        let mut house = House::new(|_| {});
        webhook.register(&house.server).unwrap();
        house.write_certificate("hook");
        let address = house.start().await;
        Self(house, address)
    }

    /// What comes back for one body, whose HTTP status has to be 200.
    async fn send(&self, path: &str, body: &str) -> Value {
        let answer = self.0.post(self.1, path, body).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// The response to one review: whether it passes, code, message, warnings, patch.
    async fn ask(&self, path: &str, review: Value) -> (bool, u64, String, Value, Value) {
        let mut answer = self.send(path, &review.to_string()).await;
        assert_eq!(answer["response"]["uid"], "u");
        let response = &mut answer["response"];
        let patch = response["patch"]
            .as_str()
            .map_or(Value::Null, |patch| serde_json::from_slice(&STANDARD.decode(patch).unwrap()).unwrap());
        let status = response["status"].clone();
        (
            response["allowed"].as_bool().unwrap(),
            status["code"].as_u64().unwrap(),
            status["message"].as_str().unwrap_or_default().to_owned(),
            response["warnings"].take(),
            patch,
        )
    }
}

fn maps() -> Webhook<ConfigMap> {
    Webhook::builder().defaulter(Maps).validator(Maps)
}

#[tokio::test]
async fn a_patch_holds_what_changed_and_keeps_what_the_type_does_not_know() {
    let calls = Calls::begin(maps()).await;
    let mut bare = map("");
    bare["data"] = json!({"other": "1"});
    let patch = json!([{"op": "add", "path": "/data/size", "value": "small"}]);
    let (allowed, code, _, _, patched) = calls.ask(MUTATE, review("CREATE", None, Some(bare))).await;
    assert_eq!((allowed, code, patched), (true, 200, patch));
    let (allowed, _, _, _, patched) = calls.ask(MUTATE, review("CREATE", None, Some(map("big")))).await;
    assert_eq!((allowed, patched), (true, Value::Null));
    let (allowed, _, _, _, patched) = calls.ask(MUTATE, review("DELETE", Some(map("")), None)).await;
    assert_eq!((allowed, patched), (true, Value::Null));
    calls.0.stopped().await;
}

#[tokio::test]
async fn members_of_a_chain_see_what_those_before_them_did() {
    let calls = Calls::begin(Webhook::builder().defaulter(Maps).mutating_handler(Twice)).await;
    let mut bare = map("");
    bare["data"] = json!({});
    let (.., patched) = calls.ask(MUTATE, review("CREATE", None, Some(bare))).await;
    assert_eq!(patched, json!([{"op": "add", "path": "/data/size", "value": "smallsmall"}]));
    calls.0.stopped().await;
}

#[tokio::test]
async fn verdicts_carry_upstreams_codes_and_warnings() {
    let calls = Calls::begin(maps()).await;
    let warned = json!(["maps are old"]);
    let none = Value::Null;
    let rows = [
        ("CREATE", None, Some(map("1")), true, 200, "", &warned),
        ("CREATE", None, Some(map("wrong")), false, 403, "size is wrong", &warned),
        ("CREATE", None, Some(map("gone")), false, 410, "it is gone", &warned),
        ("CREATE", None, None, false, 400, "there is no content to decode", &none),
        ("UPDATE", Some(map("1")), Some(map("1")), true, 200, "", &none),
        ("UPDATE", Some(map("1")), Some(map("2")), false, 403, "size is fixed", &none),
        ("DELETE", Some(map("1")), None, true, 200, "", &none),
        ("DELETE", Some(map("kept")), None, false, 403, "it is kept", &none),
        ("CONNECT", None, None, true, 200, "", &none),
        ("PAINT", None, None, false, 400, "unknown operation", &none),
    ];
    for (operation, old, new, allowed, code, message, warnings) in rows {
        let got = calls.ask(VALIDATE, review(operation, old, new)).await;
        assert_eq!(got, (allowed, code, message.to_owned(), warnings.clone(), Value::Null), "{operation}");
    }
    calls.0.stopped().await;
}

#[tokio::test]
async fn an_object_that_is_let_go_is_not_judged() {
    let calls = Calls::begin(maps()).await;
    let mut old = map("kept");
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let mut new = old.clone();
    old["metadata"]["finalizers"] = json!(["a/b"]);
    old["metadata"]["resourceVersion"] = "1".into();
    // Not even decoded: the type cannot read this one.
    (old["data"], new["data"]) = (json!(7), json!(7));
    for path in [MUTATE, VALIDATE] {
        let (allowed, ..) = calls.ask(path, review("UPDATE", Some(old.clone()), Some(new.clone()))).await;
        assert!(allowed, "{path}");
    }
    calls.0.stopped().await;
}

#[tokio::test]
async fn a_panic_denies_and_is_counted() {
    let calls = Calls::begin(maps()).await;
    let (allowed, code, message, ..) = calls.ask(MUTATE, review("CREATE", None, Some(map("panic")))).await;
    assert_eq!((allowed, code), (false, 500));
    assert!(message.starts_with("panic: ") && message.ends_with("[recovered]"), "{message}");
    assert!(calls.0.registry.text().contains("controller_runtime_webhook_panics_total 1"));
    assert!(calls.ask(MUTATE, review("CREATE", None, Some(map("big")))).await.0);
    calls.0.stopped().await;
}

#[tokio::test]
async fn the_answer_speaks_the_version_of_the_question() {
    let calls = Calls::begin(maps()).await;
    let named = |version: &str| {
        let mut review = review("CREATE", None, Some(map("1")));
        review["apiVersion"] = version.into();
        review.to_string()
    };
    let mut bare = review("CREATE", None, Some(map("1")));
    bare.as_object_mut().unwrap().retain(|name, _| name == "request");
    for (body, version) in [
        (named("admission.k8s.io/v1"), "admission.k8s.io/v1"),
        (named("admission.k8s.io/v1beta1"), "admission.k8s.io/v1beta1"),
        (bare.to_string(), "admission.k8s.io/v1"),
    ] {
        let answer = calls.send(VALIDATE, &body).await;
        assert_eq!((&answer["apiVersion"], &answer["kind"]), (&json!(version), &json!("AdmissionReview")));
        assert_eq!(answer["response"]["allowed"], true);
    }
    calls.0.stopped().await;
}

#[tokio::test]
async fn what_cannot_be_read_is_denied() {
    let calls = Calls::begin(maps()).await;
    for (body, code) in [
        (String::new(), 400),
        ("{".to_owned(), 400),
        ("{}".to_owned(), 400),
        (json!({"apiVersion": "other/v1", "kind": "AdmissionReview", "request": {}}).to_string(), 400),
    ] {
        let answer = calls.send(MUTATE, &body).await;
        check_denied(&answer, code);
    }
    calls.0.stopped().await;
}

#[tokio::test]
async fn a_body_that_is_too_long_is_denied_before_it_is_sent() {
    let calls = Calls::begin(maps()).await;
    let mut stream = calls.0.connect(calls.1, "hook", false).await.unwrap();
    let length = (7 << 20) + 1;
    let head = format!("POST {MUTATE} HTTP/1.1\r\nhost: hook\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // How the connection ends is of no matter.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    check_denied(&serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap(), 413);
    calls.0.stopped().await;
}

#[track_caller]
fn check_denied(answer: &Value, code: u16) {
    let response = &answer["response"];
    assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(code)));
}

/// Warns of its number, and denies if that is 2.
struct Member(u8);

impl Handler for Member {
    async fn handle(&self, _: &AdmissionRequest) -> AdmissionResponse {
        assert_ne!(self.0, 3, "nobody is asked after a denial");
        let verdict =
            if self.0 == 2 { AdmissionResponse::denied("no") } else { AdmissionResponse::allowed() };
        verdict.with_warnings([format!("member {}", self.0)])
    }
}

async fn call(server: &WebhookServer, content_type: &str, review: &Value) -> Value {
    let request = Request::post(VALIDATE).header("content-type", content_type);
    let answer = server.call(request.body(Bytes::from(review.to_string())).unwrap()).await;
    serde_json::from_slice(answer.body()).unwrap()
}

#[tokio::test]
async fn the_first_that_denies_ends_a_chain_and_all_warnings_are_told() {
    let server = WebhookServer::default();
    let members =
        (1..=3).fold(Webhook::<ConfigMap>::builder(), |all, number| all.validating_handler(Member(number)));
    members.register(&server).unwrap();
    let answer = call(&server, "application/json", &review("CREATE", None, Some(map("1")))).await;
    let response = &answer["response"];
    assert_eq!((&response["allowed"], &response["status"]["message"]), (&json!(false), &json!("no")));
    assert_eq!(response["warnings"], json!(["member 1", "member 2"]));
}

#[tokio::test]
async fn a_review_of_another_content_type_is_denied() {
    let server = WebhookServer::default();
    maps().register(&server).unwrap();
    let answer = call(&server, "text/plain", &review("CREATE", None, Some(map("1")))).await;
    check_denied(&answer, 400);
    assert_eq!(answer["response"]["status"]["message"], "contentType=text/plain, expected application/json");
}

//! Authentication: token reviews in, users out.

use bytes::Bytes;
use http::{Request, StatusCode};
use kubewright::webhook::{
    WebhookServer,
    authentication::{AuthenticationResponse, Authenticator, TokenRequest},
};
use serde_json::{Value, json};

struct One;

impl Authenticator for One {
    async fn authenticate(&self, request: &TokenRequest) -> AuthenticationResponse {
        assert_ne!(request.token, "panic", "as it was told");
        match request.token.as_str() {
            "sesame" => {
                let mut response = AuthenticationResponse::authenticated("ali", ["readers"]);
                response.audiences = request.audiences.clone();
                response
            }
            "away" => AuthenticationResponse::errored("the oracle is away"),
            _ => AuthenticationResponse::unauthenticated(),
        }
    }
}

async fn send(content_type: &str, body: impl Into<Bytes>) -> Value {
    let server = WebhookServer::default();
    server.register_authenticator("/authenticate", One).unwrap();
    let request = Request::post("/authenticate").header("content-type", content_type).body(body.into());
    let answer = server.call(request.unwrap()).await;
    assert_eq!(answer.status(), StatusCode::OK);
    serde_json::from_slice(answer.body()).unwrap()
}

fn review(version: &str, token: &str) -> String {
    let spec = json!({"token": token, "audiences": ["api"]});
    json!({"apiVersion": version, "kind": "TokenReview", "metadata": {"uid": "u"}, "spec": spec}).to_string()
}

#[tokio::test]
async fn a_token_is_somebodys_or_nobodys_and_the_answer_speaks_the_version_of_the_question() {
    let known = json!({
        "authenticated": true, "user": {"username": "ali", "groups": ["readers"]}, "audiences": ["api"],
    });
    let failed = |error: &str| json!({"authenticated": false, "error": error});
    for (token, status) in [
        ("sesame", known),
        ("salt", json!({"authenticated": false})),
        ("away", failed("the oracle is away")),
        ("", failed("token is empty")),
    ] {
        for version in ["authentication.k8s.io/v1", "authentication.k8s.io/v1beta1"] {
            let answer = send("application/json", review(version, token)).await;
            let metadata = json!({"uid": "u"});
            assert_eq!(
                answer,
                json!({"apiVersion": version, "kind": "TokenReview", "metadata": metadata, "status": status}),
            );
        }
    }
}

#[tokio::test]
async fn what_cannot_be_read_authenticates_nobody() {
    #[track_caller]
    fn check(answer: &Value, error: &str) {
        assert_eq!(answer["status"]["authenticated"], false);
        assert_eq!(answer["apiVersion"], "authentication.k8s.io/v1");
        assert!(answer["status"]["error"].as_str().unwrap().starts_with(error), "{answer}");
    }
    check(&send("application/json", "").await, "request body is empty");
    check(&send("application/json", "{").await, "failed to decode the review");
    check(&send("text/plain", "{}").await, "contentType=text/plain, expected application/json");
    check(&send("application/json", review("other/v1", "x")).await, "unsupported review other/v1");
    check(&send("application/json", vec![b'x'; (1 << 20) + 1]).await, "request entity is too large");
    let bare = json!({"spec": {"token": "panic"}}).to_string();
    check(&send("application/json", bare).await, "panic: ");
}

#[test]
fn a_token_is_not_printed() {
    let request: TokenRequest = serde_json::from_value(json!({"token": "sesame"})).unwrap();
    assert!(!format!("{request:?}").contains("sesame"));
}

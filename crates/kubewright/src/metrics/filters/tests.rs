//! The gate, in front of an API server of a few lines.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::{Instant, advance};

use super::Gate;

/// Knows a token or two, and notes what it is asked.
#[derive(Clone, Default)]
struct ApiServer {
    asked: Arc<Mutex<Vec<String>>>,
    /// So many requests fail first.
    fails: Arc<Mutex<usize>>,
}

impl tower_service::Service<Request<Body>> for ApiServer {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let path = request.uri().path().to_owned();
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let (code, answer) = server.answer(&path, &serde_json::from_slice(&body).unwrap());
            let body = Body::from(serde_json::to_vec(&answer).unwrap());
            Ok(Response::builder().status(code).body(body).unwrap())
        })
    }
}

impl ApiServer {
    fn answer(&self, path: &str, review: &Value) -> (u16, Value) {
        let spec = &review["spec"];
        let is_token = path.ends_with("/tokenreviews");
        self.asked.lock().push(if is_token {
            "token".to_owned()
        } else {
            spec["user"].as_str().unwrap().to_owned()
        });
        let mut fails = self.fails.lock();
        if *fails > 0 {
            *fails -= 1;
            return (
                500,
                json!({"kind": "Status", "status": "Failure", "code": 500, "message": "etcd", "reason": "InternalError"}),
            );
        }
        let status = match spec["token"].as_str() {
            Some(name @ ("scraper" | "guest")) => {
                json!({"authenticated": true, "user": {"username": name, "groups": ["all"]}})
            }
            Some(_) => json!({"authenticated": false, "error": "invalid bearer token"}),
            None => {
                assert_eq!(spec["groups"], json!(["all"]));
                let asked = &spec["nonResourceAttributes"];
                let allowed =
                    spec["user"] == "scraper" && asked["verb"] == "get" && asked["path"] == "/metrics";
                json!({"allowed": allowed})
            }
        };
        (201, json!({"spec": spec, "status": status}))
    }

    fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock())
    }
}

fn gate() -> (ApiServer, Gate) {
    let server = ApiServer::default();
    let gate = Gate::new(&kube::Client::new(server.clone(), "default"));
    (server, gate)
}

/// What whoever asks gets: nothing, or the line of a refusal.
async fn asks(gate: &Gate, method: Method, path: &str, authorization: &str) -> (u16, String) {
    let request = Request::builder().method(method).uri(path);
    let request = match authorization {
        "" => request,
        some => request.header("Authorization", some),
    };
    let (parts, ()) = request.body(()).unwrap().into_parts();
    match gate.admit(&parts).await {
        Ok(()) => (200, String::new()),
        Err(refused) => {
            let status = refused.status().as_u16();
            let body = refused.into_body().collect().await.unwrap().to_bytes();
            (status, String::from_utf8(body.to_vec()).unwrap())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_known_and_may_passes() {
    let (_, gate) = gate();
    for (method, path, authorization, status, line) in [
        (Method::GET, "/metrics", "Bearer scraper", 200, ""),
        (Method::GET, "/metrics?a=b", "bearer  scraper ", 200, ""),
        (Method::GET, "/metrics", "", 401, "Unauthorized\n"),
        (Method::GET, "/metrics", "Bearer ", 401, "Unauthorized\n"),
        (Method::GET, "/metrics", "Basic scraper", 401, "Unauthorized\n"),
        (Method::GET, "/metrics", "Bearer stolen", 401, "Unauthorized\n"),
        (Method::GET, "/metrics", "Bearer guest", 403, "Authorization denied for user guest\n"),
        (Method::POST, "/metrics", "Bearer scraper", 403, "Authorization denied for user scraper\n"),
        (Method::GET, "/debug", "Bearer scraper", 403, "Authorization denied for user scraper\n"),
    ] {
        let answered = asks(&gate, method, path, authorization).await;
        assert_eq!(answered, (status, line.to_owned()), "{path} {authorization}");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_hold_as_long_as_upstreams() {
    let (server, gate) = gate();
    let ask = async |token: &str| {
        asks(&gate, Method::GET, "/metrics", &format!("Bearer {token}")).await;
        server.take_asked()
    };
    let began = Instant::now();
    // Seconds since the first question, who asks, and what the API server is asked.
    for (at, token, asked) in [
        (0, "scraper", &["token", "scraper"][..]),
        (0, "guest", &["token", "guest"]),
        (0, "stolen", &["token"]),
        (29, "guest", &[]),
        (31, "guest", &["guest"]),
        (59, "scraper", &[]),
        (59, "stolen", &[]),
        (61, "scraper", &["token"]),
        (61, "stolen", &["token"]),
        (302, "scraper", &["token", "scraper"]),
    ] {
        advance(Duration::from_secs(at).saturating_sub(began.elapsed())).await;
        assert_eq!(ask(token).await, asked, "{token} at {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_repeated_and_then_said_and_not_remembered() {
    let (server, gate) = gate();
    *server.fails.lock() = 4;
    assert_eq!(asks(&gate, Method::GET, "/metrics", "Bearer scraper").await.0, 200);
    *server.fails.lock() = usize::MAX;
    let failed = (500, "Authentication failed\n".to_owned());
    assert_eq!(asks(&gate, Method::GET, "/metrics", "Bearer guest").await, failed);
    advance(Duration::from_secs(301)).await;
    *server.fails.lock() = 0;
    server.take_asked();
    assert_eq!(asks(&gate, Method::GET, "/metrics", "Bearer guest").await.0, 403);
    assert_eq!(server.take_asked(), ["token", "guest"]);
}

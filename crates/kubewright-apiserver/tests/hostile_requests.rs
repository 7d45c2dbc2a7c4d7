//! Requests that nobody has thought of: each decoder, selector, option and patch takes whatever comes.
//!
//! `PROPTEST_CASES=1000000 cargo test -p kubewright-apiserver --test hostile_requests` goes on for long.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::{config_map, config_maps, define_widgets, widget};
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use kube::{Client, api::PostParams};
use kubewright_apiserver::ApiServer;
use proptest::{collection::vec, prelude::*, sample::select};
use tower_service::Service;

/// A request as text, so that a failure can be read.
#[derive(Debug, Clone)]
struct Hostile {
    method: &'static str,
    path: &'static str,
    query: Vec<(&'static str, Vec<u8>)>,
    content_type: &'static str,
    accept: Vec<u8>,
    body: Vec<u8>,
}

impl Hostile {
    fn into_request(self) -> Option<Request<Full<Bytes>>> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        // What is no UTF-8 is sent as it is, byte by byte.
        let encode = |byte: &u8| char::from(*byte);
        for (name, value) in &self.query {
            query.append_pair(name, &value.iter().map(encode).collect::<String>());
        }
        let uri = format!("{}?{}", self.path, query.finish());
        let mut request =
            Request::builder().method(Method::from_bytes(self.method.as_bytes()).ok()?).uri(uri);
        if !self.content_type.is_empty() {
            request = request.header(header::CONTENT_TYPE, self.content_type);
        }
        if let Ok(accept) = HeaderValue::from_bytes(&self.accept) {
            request = request.header(header::ACCEPT, accept);
        }
        request.body(Full::from(self.body)).ok()
    }
}

/// Pieces of what is understood, put together at random, with random bytes in between.
fn pieces(known: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => select(known).prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..6),
        1 => select(known).prop_map(|text| text.repeat(120).into_bytes()),
    ];
    vec(piece, 0..7).prop_map(|pieces| pieces.concat())
}

fn hostile() -> impl Strategy<Value = Hostile> {
    let query = vec((select(OPTIONS), pieces(VALUES)), 0..4);
    let body = prop_oneof![pieces(JSON), pieces(PATCH), pieces(PROTOBUF), whole()];
    let accept = pieces(ACCEPT);
    (select(METHODS), select(PATHS), query, select(CONTENT_TYPES), accept, body).prop_map(
        |(method, path, query, content_type, accept, body)| Hostile {
            method,
            path,
            query,
            content_type,
            accept,
            body,
        },
    )
}

/// A whole document with some bytes damaged.
fn whole() -> impl Strategy<Value = Vec<u8>> {
    let damage = vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    (select(WHOLE), damage).prop_map(|(text, damage)| {
        let mut bytes = text.as_bytes().to_vec();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes
    })
}

/// Answers all requests, one after the other, and says which of them ended in a panic.
async fn survives(requests: Vec<Hostile>) -> Result<(), Hostile> {
    let server = ApiServer::builder().seed(1).build();
    let client = Client::new(server.service(), "default");
    config_maps(&client).create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    define_widgets(&client).await.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    for hostile in requests {
        let Some(request) = hostile.clone().into_request() else { continue };
        let response = server.service().call(request).await.unwrap();
        let code = response.status();
        // Watches go on, and whatever they have to say comes at once.
        let body = tokio::time::timeout(Duration::from_secs(1), response.into_body().collect()).await;
        let text = match body {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) => return Err(hostile),
            Err(_) => Bytes::new(),
        };
        if code == StatusCode::INTERNAL_SERVER_ERROR && text.starts_with(b"This request caused") {
            return Err(hostile);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn no_request_ends_in_a_panic(requests in vec(hostile(), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        prop_assert!(runtime.block_on(survives(requests)).is_ok());
    }
}

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "PATCH", "DELETE", "HEAD", "OPTIONS", "LOOK"];
const PATHS: &[&str] = &[
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/configmaps/a",
    "/api/v1/configmaps",
    "/api/v1/watch/namespaces/default/configmaps/a",
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/a/status",
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/default/finalize",
    "/api/v1/namespaces/%ff%00/events",
    "/apis/apps/v1/namespaces/default/deployments/a/scale",
    "/apis/example.com/v1/namespaces/default/widgets",
    "/apis/example.com/v1/namespaces/default/widgets/a",
    "/apis/example.com/v1beta1/namespaces/default/widgets/a/status",
    "/apis/example.com/v1/namespaces/default/widgets/a/scale",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases/a",
    "/openapi/v3/apis/example.com/v1",
    "//api///v1",
];
const OPTIONS: &[&str] = &[
    "labelSelector",
    "fieldSelector",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds",
    "watch",
    "allowWatchBookmarks",
    "sendInitialEvents",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "propagationPolicy",
    "orphanDependents",
    "uid",
    "includeObject",
    "pretty",
];
const VALUES: &[&str] = &[
    "a",
    "=",
    "==",
    "!=",
    "!",
    ",",
    "(",
    ")",
    " in ",
    " notin ",
    ">",
    "<",
    "1",
    "-1",
    "0",
    "true",
    "All",
    "Exact",
    "NotOlderThan",
    "metadata.name",
    "status.phase",
    "\\",
    "\"",
    " ",
    "18446744073709551615",
    "9223372036854775807",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJkZWZhdWx0L2EifQ",
    "Orphan",
    "\u{e9}",
    "\u{1f600}",
];
const CONTENT_TYPES: &[&str] = &[
    "",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    ";;",
];
const ACCEPT: &[&str] = &[
    "application/json",
    "application/yaml",
    "*/*",
    ";as=Table",
    ";v=v1",
    ";g=meta.k8s.io",
    ",",
    ";",
    "=",
    ";as=PartialObjectMetadataList",
    ";stream=watch",
    "application/vnd.kubernetes.protobuf",
];
const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"a\"",
    "\"metadata\":",
    "\"name\":\"a\"",
    "\"kind\":",
    "\"apiVersion\":\"v1\"",
    "null",
    "true",
    "1e999",
    "-0",
    "18446744073709551616",
    "\"\\ud800\"",
    "- a\n",
    "a: &a [*a]\n",
    "<<: *a\n",
    "---\n",
    "!!binary x\n",
];
const PATCH: &[&str] = &[
    "[",
    "]",
    "{\"op\":\"add\",",
    "{\"op\":\"remove\",",
    "{\"op\":\"move\",",
    "{\"op\":\"copy\",",
    "{\"op\":\"test\",",
    "\"from\":\"/metadata\",",
    "\"path\":\"/metadata/labels/a\",",
    "\"path\":\"/data/-\",",
    "\"path\":\"/data/-1\",",
    "\"path\":\"\",",
    "\"path\":\"/~2\",",
    "\"value\":{\"a\":null}}",
    "\"value\":[]}",
    ",",
];
const PROTOBUF: &[&str] =
    &["k8s\0", "\x0a", "\x12", "\x1a", "\x08", "\x7f", "\x02", "\0", "v1", "ConfigMap", "DeleteOptions"];
const WHOLE: &[&str] = &[
    r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","labels":{"a":"b"},"finalizers":["x/y"]},"data":{"k":"v"}}"#,
    r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","generateName":"w-"},"spec":{"size":1,"replicas":2}}"#,
    r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}"#,
    r#"{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"],"preconditions":{"uid":"x"},"gracePeriodSeconds":0}"#,
    r#"[{"op":"move","from":"/data","path":"/data/x"},{"op":"copy","from":"","path":"/data/y"}]"#,
    r#"{"metadata":{"labels":{"a":null},"ownerReferences":[{"uid":"u","name":"n","kind":"K","apiVersion":"v1"}]},"data":null}"#,
    r#"{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"resourceVersion":"1"},"spec":{"replicas":-1}}"#,
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata: {a: b}\n",
    r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"additionalPrinterColumns":[{"name":"X","type":"string","jsonPath":".spec[?(@.a==\"b\")]..c"}],"schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#,
];

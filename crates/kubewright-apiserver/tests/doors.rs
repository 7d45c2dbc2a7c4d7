//! The TCP door, and the documents that every client reads first.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use std::{net::SocketAddr, time::Duration};

use common::{config_map, config_maps, define_widgets, next, widget};
use futures::StreamExt;
use http::{Method, Request, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, ListParams, PostParams, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{ApiServer, Fault, ListenError, ListenOptions, Listener, Status, Transport};
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt, net::TcpStream};
use tower_service::Service;

/// Asks the first door, with an `Accept` header.
async fn ask(server: &ApiServer, path: &str, accept: &str) -> (StatusCode, String, Value) {
    let request = Request::get(path).header(header::ACCEPT, accept).body(Full::default()).unwrap();
    read(server.service().call(request).await.unwrap()).await
}

async fn read(response: Response<kubewright_apiserver::Body>) -> (StatusCode, String, Value) {
    let (parts, body) = response.into_parts();
    let content_type = parts.headers[header::CONTENT_TYPE].to_str().unwrap().to_owned();
    let bytes = body.collect().await.unwrap().to_bytes();
    let text = || Value::from(String::from_utf8(bytes.to_vec()).unwrap());
    (parts.status, content_type, serde_json::from_slice(&bytes).unwrap_or_else(|_| text()))
}

async fn client_of(listener: &Listener) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(&listener.kubeconfig()).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

#[tokio::test]
async fn kubeconfig_leads_through_tls() {
    let server = ApiServer::builder().build();
    let listener = server.listen(ListenOptions::default()).await.unwrap();
    assert!(listener.ca_certificate().unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    let client = client_of(&listener).await;
    let config_maps = config_maps(&client);
    let mut events = config_maps.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    config_maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    assert_eq!(next(&mut events).await, "ADDED a");
    // Both doors lead to the same objects.
    let inside = Client::new(server.service(), "default");
    assert!(common::config_maps(&inside).get("a").await.is_ok());
    listener.shutdown().await;
    assert!(events.next().await.is_none_or(|event| event.is_err()), "the watch has ended");
    assert!(config_maps.get("a").await.is_err(), "nobody listens any longer");
}

#[tokio::test]
async fn plain_http_needs_the_token_too() {
    let server = ApiServer::builder().build();
    let mut options = ListenOptions::default();
    options.transport = Transport::Plain;
    options.token = Some("secret".into());
    let listener = server.listen(options).await.unwrap();
    assert_eq!(listener.url(), format!("http://{}", listener.address()));
    assert!(client_of(&listener).await.apiserver_version().await.is_ok());
    let mut config = Config::new(listener.url().parse().unwrap());
    config.default_retry = false;
    let stranger = Client::try_from(config).unwrap();
    assert_eq!(stranger.apiserver_version().await.unwrap().minor, "37", "the version is public");
    let (code, reason, message) = common::refusal(config_maps(&stranger).list(&ListParams::default()).await);
    assert_eq!((code, reason.as_str(), message.as_str()), (401, "Unauthorized", "Unauthorized"));
    listener.shutdown().await;
}

#[tokio::test]
async fn plain_http_asks_for_no_token_that_was_not_given() {
    let server = ApiServer::builder().build();
    let mut options = ListenOptions::default();
    options.transport = Transport::Plain;
    let listener = server.listen(options).await.unwrap();
    let mut config = Config::new(listener.url().parse().unwrap());
    config.default_retry = false;
    let stranger = Client::try_from(config).unwrap();
    assert!(config_maps(&stranger).list(&ListParams::default()).await.is_ok());
    listener.shutdown().await;
}

#[tokio::test]
async fn tokens_are_no_identifiers() {
    let server = || ApiServer::builder().seed(7).build();
    let first = server().listen(ListenOptions::default()).await.unwrap();
    let second = server().listen(ListenOptions::default()).await.unwrap();
    assert_ne!(first.token(), second.token(), "a seed does not make them");
    assert_eq!(first.token().len(), 43, "32 bytes in base64");
}

#[tokio::test]
async fn the_certificate_is_for_the_names_that_were_given() {
    let server = ApiServer::builder().build();
    let mut options = ListenOptions::default();
    options.names = vec!["api.example.com".into()];
    let listener = server.listen(options).await.unwrap();
    for (name, expected) in
        [("api.example.com", true), ("kubernetes.default.svc", true), ("other.example.com", false)]
    {
        let kubeconfig = Kubeconfig::from_yaml(&listener.kubeconfig()).unwrap();
        let mut config =
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        config.default_retry = false;
        config.tls_server_name = Some(name.into());
        let client = Client::try_from(config).unwrap();
        assert_eq!(client.apiserver_version().await.is_ok(), expected, "{name}");
    }
    listener.shutdown().await;
}

#[tokio::test]
async fn a_panic_in_a_request_is_a_500_at_both_doors() {
    let server = ApiServer::builder().build();
    let mut options = ListenOptions::default();
    options.transport = Transport::Plain;
    let listener = server.listen(options).await.unwrap();
    server.faults().add(Fault::respond(Status::expired("")).when(|_| panic!("a test panics")).always());
    for client in [Client::new(server.service(), "default"), client_of(&listener).await] {
        let request = Request::get("/api/v1/namespaces").body(Vec::new()).unwrap();
        let response = client.send(request.map(Into::into)).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let text = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(text, "This request caused apiserver to panic. Look in the logs for details.\n");
    }
    server.faults().clear();
    assert!(config_maps(&client_of(&listener).await).list(&ListParams::default()).await.is_ok());
    listener.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server = ApiServer::builder().build();
    let body = StreamBody::new(futures::stream::pending::<Result<Frame<bytes::Bytes>, std::io::Error>>());
    let request = Request::post("/api/v1/namespaces/default/configmaps").body(body).unwrap();
    let start = tokio::time::Instant::now();
    let (code, _, status) = read(server.service().call(request).await.unwrap()).await;
    assert_eq!((code, start.elapsed().as_secs()), (StatusCode::GATEWAY_TIMEOUT, 60));
    assert_eq!(status["message"], "Timeout: request did not complete within the allotted timeout");
}

#[tokio::test]
async fn sockets_that_never_shake_hands_are_closed_while_others_are_served() {
    let server = ApiServer::builder().build();
    let listener = server.listen(ListenOptions::default()).await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(TcpStream::connect(listener.address()).await.unwrap());
    }
    // It comes after all of them, so that they have been accepted when it is answered.
    let client = client_of(&listener).await;
    assert!(config_maps(&client).list(&ListParams::default()).await.is_ok());
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(33)).await;
    tokio::time::resume();
    for mut socket in silent {
        let mut byte = [0];
        let read = tokio::time::timeout(Duration::from_secs(60), socket.read(&mut byte)).await;
        assert!(matches!(read, Ok(Ok(0) | Err(_))), "closed and not timed out");
    }
    assert!(config_maps(&client).list(&ListParams::default()).await.is_ok());
    listener.shutdown().await;
}

#[tokio::test]
async fn a_cut_watch_over_tcp_delivers_what_came_before() {
    let server = ApiServer::builder().build();
    let mut options = ListenOptions::default();
    options.transport = Transport::Plain;
    let listener = server.listen(options).await.unwrap();
    let client = client_of(&listener).await;
    for name in ["a", "b", "c"] {
        config_maps(&client).create(&PostParams::default(), &config_map(name, "1")).await.unwrap();
    }
    server.faults().add(Fault::cut_watch(2));
    let mut events = config_maps(&client).watch(&WatchParams::default(), "0").await.unwrap().boxed();
    assert_eq!(next(&mut events).await, "ADDED a");
    assert_eq!(next(&mut events).await, "ADDED b");
    // The kube client reads a broken connection as the end of the watch.
    assert!(events.next().await.is_none_or(|event| event.is_err()));
    server.faults().add(Fault::lose_answer());
    assert!(config_maps(&client).delete("a", &DeleteParams::default()).await.is_err());
    assert!(config_maps(&client).get_opt("a").await.unwrap().is_none(), "it was committed");
    listener.shutdown().await;
}

#[tokio::test]
async fn plain_http_stays_on_this_machine() {
    let server = ApiServer::builder().build();
    let mut options = ListenOptions::default();
    options.address = SocketAddr::from(([0, 0, 0, 0], 0));
    options.transport = Transport::Plain;
    assert!(matches!(server.listen(options).await, Err(ListenError::PlainBeyondLoopback(_))));
}

#[tokio::test]
async fn bodies_are_limited() {
    let server = ApiServer::builder().build();
    let body = Full::new(bytes::Bytes::from(vec![b' '; 3 * 1024 * 1024 + 1]));
    let request = Request::post("/api/v1/namespaces/default/configmaps").body(body).unwrap();
    let (code, _, status) = read(server.service().call(request).await.unwrap()).await;
    assert_eq!(code, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(status["message"], "Request entity too large: limit is 3145728");
}

/// Asked of kube-apiserver 1.37.2, all of them.
#[tokio::test]
async fn what_is_not_served_is_refused_in_the_words_of_its_router() {
    let (server, client) = common::start();
    common::define_widgets(&client).await;
    let check = async |method: Method, paths: &[&str], code: u16, expected: Value| {
        for path in paths {
            let request = Request::builder().method(&method).uri(*path).body(Full::<bytes::Bytes>::default());
            let (found, _, body) = read(server.service().call(request.unwrap()).await.unwrap()).await;
            let body =
                if let Value::String(_) = body { body } else { json!([body["message"], body["details"]]) };
            assert_eq!((found.as_u16(), body), (code, expected.clone()), "{method} {path}");
        }
    };
    let nobody_knows = ["/apis/nope", "/apis/nope/v1/things", "/apis/example.com/v9/widgets"];
    check(Method::GET, &nobody_knows, 404, json!("404 page not found\n")).await;
    let wrong_scope = ["/apis/example.com/v1/widgets", "/apis/example.com/v1/namespaces/default/others"];
    check(Method::POST, &wrong_scope, 404, json!("404 page not found\n")).await;
    let absent = [
        "/apis/apps/v9",
        "/api/v9/pods",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/pods/x",
        "/api/v1/namespaces/default/pods/x/nope",
        "/api/v1/namespaces/default/pods/x/nope/nope",
        "/api/v1/namespaces/default/configmaps/x/status",
    ];
    check(Method::GET, &absent, 404, json!(["the server could not find the requested resource", {}])).await;
    let not_allowed = json!(["the server does not allow this method on the requested resource", {}]);
    check(
        Method::POST,
        &["/api/v1/namespaces/default/pods/x", "/api/v1/pods", "/api/v1"],
        405,
        not_allowed.clone(),
    )
    .await;
    check(Method::PUT, &["/api/v1/namespaces/default/pods", "/api/v1/pods"], 405, not_allowed.clone()).await;
    check(Method::DELETE, &["/api/v1/namespaces", "/api/v1/pods"], 405, not_allowed.clone()).await;
    check(Method::OPTIONS, &["/api/v1/pods"], 405, not_allowed).await;

    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let about = json!({"name": "x", "group": "example.com", "kind": "widgets"});
    let part = [&*format!("{widgets}/x/nope"), &*format!("{widgets}/x/nope/nope")];
    check(Method::PATCH, &part, 404, json!(["widgets.example.com \"x\" not found", about])).await;
    check(Method::PUT, &[widgets], 400, json!(["name must be provided", null])).await;
    let refused = |verb: &str| {
        let message = format!("{verb} is not supported on resources of kind \"widgets.example.com\"");
        json!([message, {"group": "example.com", "kind": "widgets"}])
    };
    check(Method::DELETE, &[&format!("{widgets}/x/status")], 405, refused("delete")).await;
    check(Method::POST, &[&format!("{widgets}/x/status")], 405, refused("create")).await;
    check(Method::OPTIONS, &[widgets], 405, refused("")).await;
}

#[tokio::test]
async fn forms_that_nobody_writes_are_refused() {
    let server = ApiServer::builder().build();
    let (code, _, status) = ask(&server, "/api/v1/pods", "application/vnd.kubernetes.protobuf").await;
    assert_eq!(code, StatusCode::NOT_ACCEPTABLE);
    assert_eq!(
        status["message"],
        "only the following media types are accepted: application/json, application/yaml"
    );
}

#[tokio::test]
async fn health_is_plain() {
    let server = ApiServer::builder().build();
    for path in ["/healthz", "/livez", "/readyz", "/readyz/ping"] {
        let (code, _, text) = ask(&server, path, "*/*").await;
        assert_eq!((code, text), (StatusCode::OK, json!("ok")));
    }
}

#[tokio::test]
async fn health_says_what_was_looked_at_when_asked() {
    let server = ApiServer::builder().build();
    for (path, code, expected) in [
        ("/readyz/etcd?verbose", 200, "ok"),
        ("/healthz/nope", 404, "404 page not found\n"),
        ("/livez?verbose", 200, "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n"),
        (
            "/readyz?verbose&exclude=log",
            200,
            "[+]ping ok\n[+]log excluded: ok\n[+]etcd ok\n[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n",
        ),
    ] {
        let (found, _, text) = ask(&server, path, "*/*").await;
        assert_eq!((found.as_u16(), text), (code, json!(expected)), "{path}");
    }
}

#[tokio::test]
async fn the_server_says_what_it_has() {
    let server = ApiServer::builder().build();
    let (_, _, index) = ask(&server, "/", "application/json").await;
    let paths = index["paths"].as_array().unwrap();
    for path in ["/api/v1", "/apis", "/apis/apps/v1", "/readyz", "/version"] {
        assert!(paths.contains(&json!(path)), "{path}");
    }
    let (_, content_type, text) = ask(&server, "/metrics", "*/*").await;
    assert!(content_type.starts_with("text/plain"));
    let line = "\napiserver_resource_objects{group=\"\",resource=\"namespaces\"} 4\n";
    assert!(text.as_str().unwrap().contains(line), "{text}");
    let (_, _, issuer) = ask(&server, "/.well-known/openid-configuration", "*/*").await;
    assert_eq!(issuer["issuer"], "https://kubernetes.default.svc");
    let (_, _, keys) = ask(&server, "/openid/v1/jwks", "*/*").await;
    assert_eq!(keys, json!({"keys": []}));
    let (_, _, document) = ask(&server, "/openapi/v2", "application/json").await;
    assert_eq!(document["swagger"], "2.0");
}

#[tokio::test]
async fn nobody_acts_in_the_name_of_somebody_else() {
    let server = ApiServer::builder().build();
    for header in ["Impersonate-User", "Impersonate-Group", "Impersonate-Extra-Scopes"] {
        let request =
            Request::get("/api/v1/namespaces").header(header, "jane").body(Full::<bytes::Bytes>::default());
        let (code, _, status) = read(server.service().call(request.unwrap()).await.unwrap()).await;
        assert_eq!((code, status["reason"].as_str()), (StatusCode::FORBIDDEN, Some("Forbidden")), "{header}");
    }
}

#[tokio::test]
async fn discovery_comes_in_the_form_that_is_asked_for() {
    const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let server = ApiServer::builder().build();
    let (_, content_type, core) = ask(&server, "/api", &format!("{V2},application/json")).await;
    assert_eq!((content_type.as_str(), &core["apiVersion"]), (V2, &json!("apidiscovery.k8s.io/v2")));
    let pods = core["items"][0]["versions"][0]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["resource"] == "pods");
    let expected = json!({
        "resource": "pods", "singularResource": "pod", "scope": "Namespaced", "shortNames": ["po"], "categories": ["all"],
        "responseKind": {"group": "", "version": "v1", "kind": "Pod"},
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "subresources": [
            {"subresource": "binding", "verbs": ["create"],
                "responseKind": {"group": "", "version": "v1", "kind": "Binding"}},
            {"subresource": "eviction", "verbs": ["create"],
                "responseKind": {"group": "policy", "version": "v1", "kind": "Eviction"}},
            {"subresource": "status", "verbs": ["get", "patch", "update"],
                "responseKind": {"group": "", "version": "v1", "kind": "Pod"}},
        ],
    });
    assert_eq!(pods, Some(&expected));
    let beta = V2.replace("v=v2", "v=v2beta1");
    let (_, content_type, groups) = ask(&server, "/apis", &beta).await;
    assert_eq!((content_type, &groups["apiVersion"]), (beta, &json!("apidiscovery.k8s.io/v2beta1")));

    let (_, _, old) = ask(&server, "/apis", "application/json").await;
    assert_eq!(
        (&old["kind"], &old["groups"][0]["name"]),
        (&json!("APIGroupList"), &json!("apiregistration.k8s.io"))
    );
    let (_, _, old) = ask(&server, "/api", "application/json").await;
    assert_eq!(old["versions"], json!(["v1"]));
    let (_, _, old) = ask(&server, "/apis/apps/v1", "application/json").await;
    assert_eq!((&old["kind"], &old["groupVersion"]), (&json!("APIResourceList"), &json!("apps/v1")));
    let (_, _, old) = ask(&server, "/apis/apps", "application/json").await;
    assert_eq!(old["preferredVersion"], json!({"groupVersion": "apps/v1", "version": "v1"}));
}

#[tokio::test]
async fn discovery_answers_304_to_who_knows_it() {
    let server = ApiServer::builder().build();
    let request = |tag: Option<&str>| {
        let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let mut request = Request::get("/apis").header(header::ACCEPT, accept);
        if let Some(tag) = tag {
            request = request.header(header::IF_NONE_MATCH, tag);
        }
        request.body(Full::<bytes::Bytes>::default()).unwrap()
    };
    let first = server.service().call(request(None)).await.unwrap();
    let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
    let second = server.service().call(request(Some(&tag))).await.unwrap();
    assert_eq!(second.status(), StatusCode::NOT_MODIFIED);
    define_widgets(&Client::new(server.service(), "default")).await;
    let third = server.service().call(request(Some(&tag))).await.unwrap();
    assert_eq!(third.status(), StatusCode::OK, "a new kind is news");
}

#[tokio::test]
async fn tables_show_the_columns_of_a_definition() {
    const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let server = ApiServer::builder().build();
    let widgets = define_widgets(&Client::new(server.service(), "default")).await;
    let mut made = widget("w", 3);
    made.data["status"] = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    widgets.create(&PostParams::default(), &made).await.unwrap();
    let path = "/apis/example.com/v1/namespaces/default/widgets";
    let (_, _, table) = ask(&server, path, TABLE).await;
    let names: Vec<_> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(names, ["Name", "Size", "Ready"]);
    assert_eq!(table["rows"][0]["cells"], json!(["w", 3, null]), "the status of a create is dropped");
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    let (_, _, table) = ask(&server, &format!("{path}/w?includeObject=None"), TABLE).await;
    assert_eq!(table["rows"][0]["object"], Value::Null);
    let (_, _, table) = ask(&server, &format!("{path}?watch=true&timeoutSeconds=1"), TABLE).await;
    let lines: Vec<Value> = match table {
        Value::String(text) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        one => vec![one],
    };
    assert_eq!((&lines[0]["type"], &lines[0]["object"]["kind"]), (&json!("ADDED"), &json!("Table")));
    let (_, content_type, yaml) = ask(&server, &format!("{path}/w"), "application/yaml").await;
    assert_eq!(content_type, "application/yaml");
    assert!(yaml.as_str().unwrap().starts_with("apiVersion: example.com/v1\nkind: Widget\n"), "{yaml}");
}

#[tokio::test]
async fn openapi_tells_kubectl_what_it_looks_for() {
    let server = ApiServer::builder().build();
    define_widgets(&Client::new(server.service(), "default")).await;
    let (_, _, index) = ask(&server, "/openapi/v3", "application/json").await;
    let url = index["paths"]["apis/example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    let (_, _, document) = ask(&server, url, "application/json").await;
    let patch = &document["paths"]["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"]["patch"];
    let identity = json!({"group": "example.com", "version": "v1", "kind": "Widget"});
    assert_eq!(patch["x-kubernetes-group-version-kind"], identity);
    assert_eq!(
        (&patch["parameters"][0]["name"], &patch["parameters"][0]["in"]),
        (&json!("fieldValidation"), &json!("query"))
    );
    let contents: Vec<_> = patch["requestBody"]["content"].as_object().unwrap().keys().collect();
    assert_eq!(contents, ["application/json-patch+json", "application/merge-patch+json"]);
    let schema = &document["components"]["schemas"]["com.example.v1.Widget"];
    assert_eq!(schema["x-kubernetes-group-version-kind"], json!([identity]));
}

#[tokio::test]
async fn lists_of_built_in_kinds_do_not_repeat_the_kind() {
    let server = ApiServer::builder().build();
    let client = Client::new(server.service(), "default");
    let (_, _, empty) = ask(&server, "/api/v1/namespaces/default/configmaps", "application/json").await;
    assert_eq!(empty["items"], json!([]));
    config_maps(&client).create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let (_, _, list) = ask(&server, "/api/v1/configmaps", "application/json").await;
    assert_eq!((&list["kind"], &list["items"][0]["kind"]), (&json!("ConfigMapList"), &Value::Null));
    assert_eq!(list["items"][0]["data"], json!({"key": "1"}));
    let widgets = define_widgets(&client).await;
    widgets.create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    let (_, _, list) = ask(&server, "/apis/example.com/v1beta1/widgets", "application/json").await;
    assert_eq!(list["items"][0]["apiVersion"], "example.com/v1beta1");
}

#[tokio::test]
async fn public_futures_can_move_between_threads() {
    fn check<T: Send>(value: T) -> T {
        value
    }
    let server = ApiServer::builder().build();
    let listener = check(server.listen(ListenOptions::default())).await.unwrap();
    let request = Request::get("/version").body(Full::<bytes::Bytes>::default()).unwrap();
    check(server.service().call(request)).await.unwrap();
    check(server.start_controllers(kubewright_apiserver::Controllers::default())).await.shutdown().await;
    check(listener.shutdown()).await;
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> =
        Api::all(Client::new(server.service(), "default"));
    let names: Vec<_> =
        namespaces.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
}

//! `SERVED.md` lists the built-in kinds, as discovery shows them. `KUBEWRIGHT_BLESS=1` writes it anew.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use std::{env, fmt::Write, fs, path::Path};

use common::{send_json, start};
use http::{Method, Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tower_service::Service;

async fn discovery(server: &ApiServer, path: &str) -> Value {
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let request = Request::get(path).header(header::ACCEPT, accept).body(Full::<bytes::Bytes>::default());
    let body = server.service().call(request.unwrap()).await.unwrap().into_body();
    serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap()
}

/// The resources of all groups, each with the name of its group and its version.
async fn resources(server: &ApiServer) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for path in ["/api", "/apis"] {
        for group in discovery(server, path).await["items"].as_array().unwrap() {
            let name = group["metadata"]["name"].as_str().map(|name| format!("{name}/")).unwrap_or_default();
            for version in group["versions"].as_array().unwrap() {
                let api_version = format!("{name}{}", version["version"].as_str().unwrap());
                let resources = version["resources"].as_array().unwrap();
                found.extend(resources.iter().map(|resource| (api_version.clone(), resource.clone())));
            }
        }
    }
    found
}

fn words(value: &Value) -> String {
    let words = value.as_array().into_iter().flatten().map(|word| word.as_str().unwrap());
    words.collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn the_document_lists_what_is_served() {
    let (server, _) = start();
    let mut text = "# Built-in kinds\n\nWhat a server without definitions serves, as discovery tells it. Verbs are given where they are not all eight.\n".to_owned();
    let mut before = String::new();
    for (api_version, resource) in resources(&server).await {
        if api_version != before {
            let head = "| kind | resource | short names | scope | subresources | verbs |\n|---|---|---|---|---|---|\n";
            write!(text, "\n## {api_version}\n{head}").unwrap();
            before = api_version;
        }
        let parts = resource["subresources"].as_array().into_iter().flatten();
        let parts: Vec<&str> = parts.map(|part| part["subresource"].as_str().unwrap()).collect();
        let verbs = words(&resource["verbs"]);
        let verbs = if resource["verbs"].as_array().unwrap().len() == 8 { "" } else { &verbs };
        let [kind, plural, scope] =
            [&resource["responseKind"]["kind"], &resource["resource"], &resource["scope"]]
                .map(|value| value.as_str().unwrap());
        let short = words(&resource["shortNames"]);
        writeln!(text, "| {kind} | {plural} | {short} | {scope} | {} | {verbs} |", parts.join(", ")).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("SERVED.md");
    if env::var_os("KUBEWRIGHT_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), text, "KUBEWRIGHT_BLESS=1 writes it anew");
}

/// Every kind whose objects may be made takes one that says what it has to, and gives it back.
#[tokio::test]
async fn kinds_that_a_cluster_is_set_up_with_take_their_objects() {
    let (server, _) = start();
    for (path, object) in objects() {
        let (code, made) = send_json(&server, Method::POST, path, object.clone()).await;
        assert_eq!(code, 201, "{path}: {made}");
        let url = format!("{path}/{}", made["metadata"]["name"].as_str().unwrap());
        let (code, same) = send_json(&server, Method::PUT, &url, made.clone()).await;
        assert_eq!((code, &same["metadata"]["resourceVersion"]), (200, &made["metadata"]["resourceVersion"]));
        assert_eq!(send_json(&server, Method::GET, &url, Value::Null).await, (200, made), "{path}");
        assert_eq!(send_json(&server, Method::DELETE, &url, Value::Null).await.0, 200, "{path}");
    }
}

fn named(name: &str, mut fields: Value) -> Value {
    fields["metadata"] = json!({"name": name});
    fields
}

#[allow(clippy::too_many_lines, reason = "a table of objects")]
fn objects() -> Vec<(&'static str, Value)> {
    let template = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
    let constraints = json!({"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]});
    vec![
        ("/api/v1/namespaces/default/podtemplates", named("t", json!({"template": template}))),
        (
            "/apis/apiregistration.k8s.io/v1/apiservices",
            named(
                "v1.example.com",
                json!({"spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
                "service": {"namespace": "a", "name": "b"}}}),
            ),
        ),
        (
            "/apis/certificates.k8s.io/v1/clustertrustbundles",
            named("b", json!({"spec": {"trustBundle": "text"}})),
        ),
        (
            "/apis/networking.k8s.io/v1/ipaddresses",
            named(
                "10.0.0.9",
                json!({"spec": {"parentRef": {"resource": "services", "namespace": "a", "name": "b"}}}),
            ),
        ),
        ("/apis/networking.k8s.io/v1/servicecidrs", named("r", json!({"spec": {"cidrs": ["10.1.0.0/24"]}}))),
        ("/apis/storage.k8s.io/v1/csidrivers", named("d", json!({"spec": {}}))),
        (
            "/apis/storage.k8s.io/v1/csinodes",
            named("n", json!({"spec": {"drivers": [{"name": "d", "nodeID": "n"}]}})),
        ),
        (
            "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities",
            named("c", json!({"storageClassName": "fast", "capacity": "1Gi"})),
        ),
        (
            "/apis/storage.k8s.io/v1/volumeattachments",
            named(
                "a",
                json!({"spec": {"attacher": "d", "nodeName": "n", "source": {"persistentVolumeName": "v"}}}),
            ),
        ),
        (
            "/apis/storage.k8s.io/v1/volumeattributesclasses",
            named("c", json!({"driverName": "d", "parameters": {"a": "b"}})),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
            named(
                "p",
                json!({"spec": {"matchConstraints": constraints, "validations": [{"expression": "true"}]}}),
            ),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
            named("b", json!({"spec": {"policyName": "p", "validationActions": ["Deny"]}})),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
            named(
                "p",
                json!({"spec": {"matchConstraints": constraints, "reinvocationPolicy": "Never",
                "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}]}}),
            ),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
            named("b", json!({"spec": {"policyName": "p"}})),
        ),
        ("/apis/node.k8s.io/v1/runtimeclasses", named("r", json!({"handler": "h"}))),
        (
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            named(
                "s",
                json!({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"port": 80}]}),
            ),
        ),
        ("/apis/resource.k8s.io/v1/deviceclasses", named("c", json!({"spec": {}}))),
        ("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", named("c", json!({"spec": {}}))),
        (
            "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates",
            named("t", json!({"spec": {"spec": {}}})),
        ),
        (
            "/apis/resource.k8s.io/v1/resourceslices",
            named(
                "s",
                json!({"spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}),
            ),
        ),
        (
            "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
            named("f", json!({"spec": {"priorityLevelConfiguration": {"name": "p"}}})),
        ),
        (
            "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
            named(
                "p",
                json!({"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}}),
            ),
        ),
        (
            "/apis/storagemigration.k8s.io/v1/storageversionmigrations",
            named("m", json!({"spec": {"resource": {"group": "apps", "resource": "deployments"}}})),
        ),
    ]
}

#[tokio::test]
async fn what_they_do_not_say_is_filled_in_and_what_is_wrong_is_named() {
    let (server, _) = start();
    let path = "/apis/storage.k8s.io/v1/csidrivers";
    let (_, driver) = send_json(&server, Method::POST, path, named("d", json!({"spec": {}}))).await;
    let spec = json!({"attachRequired": true, "podInfoOnMount": false, "storageCapacity": false, "requiresRepublish": false,
        "seLinuxMount": false, "fsGroupPolicy": "ReadWriteOnceWithFSType", "volumeLifecycleModes": ["Persistent"]});
    assert_eq!(driver["spec"], spec);

    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let slice = json!({"addressType": "IPv4", "endpoints": [{"addresses": ["x"]}, {"addresses": []}], "ports": [{}, {}]});
    let (code, status) = send_json(&server, Method::POST, path, named("s", slice)).await;
    let causes = status["details"]["causes"].as_array().unwrap().iter();
    let causes: Vec<_> = causes
        .map(|it| format!("{}: {}", it["field"].as_str().unwrap(), it["message"].as_str().unwrap()))
        .collect();
    assert_eq!(code, 422);
    assert_eq!(
        causes,
        [
            r#"endpoints[0].addresses[0]: Invalid value: "x": must be an IPv4 address"#,
            "endpoints[1].addresses: Required value: must contain at least 1 address",
            r#"ports[1].name: Duplicate value: """#,
        ]
    );

    let path = "/apis/apiregistration.k8s.io/v1/apiservices";
    let local = json!({"spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}});
    let (_, service) = send_json(&server, Method::POST, path, named("v1.example.com", local)).await;
    assert_eq!(service["status"]["conditions"][0]["reason"], "Local");
}

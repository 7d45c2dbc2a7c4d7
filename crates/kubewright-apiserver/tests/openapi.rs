//! What the OpenAPI documents say of built-in kinds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use std::collections::BTreeSet;

use common::{define_widgets, start};
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tower_service::Service;

async fn ask(server: &ApiServer, path: &str, accept: &str) -> Vec<u8> {
    let request = Request::get(path).header(header::ACCEPT, accept).body(Full::<bytes::Bytes>::default());
    let response = server.service().call(request.unwrap()).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}

async fn document(server: &ApiServer, path: &str) -> Value {
    serde_json::from_slice(&ask(server, path, "application/json").await).unwrap()
}

/// The paths that `/openapi/v3` names, with where their documents are.
async fn index(server: &ApiServer) -> Vec<(String, String)> {
    let index = document(server, "/openapi/v3").await;
    let paths = index["paths"].as_object().unwrap().iter();
    paths.map(|(path, at)| (path.clone(), at["serverRelativeURL"].as_str().unwrap().to_owned())).collect()
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(target) if name == "$ref" => _ = found.insert(target.clone()),
                    value => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn fields_have_types_and_say_how_they_are_patched() {
    let (server, _) = start();
    let apps = document(&server, "/openapi/v3/apis/apps/v1").await;
    let schemas = &apps["components"]["schemas"];
    let deployment = &schemas["io.k8s.api.apps.v1.Deployment"];
    let spec = "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec";
    assert_eq!(deployment["properties"]["spec"]["allOf"], json!([{"$ref": spec}]));
    assert_eq!(
        deployment["x-kubernetes-group-version-kind"],
        json!([{"group": "apps", "version": "v1", "kind": "Deployment"}])
    );
    let spec = &schemas["io.k8s.api.apps.v1.DeploymentSpec"];
    assert_eq!(spec["required"], json!(["selector", "template"]));
    assert_eq!(spec["properties"]["replicas"], json!({"type": "integer", "format": "int32"}));
    assert_eq!(spec["properties"]["strategy"]["x-kubernetes-patch-strategy"], "retainKeys");
    let pod = &schemas["io.k8s.api.core.v1.PodSpec"]["properties"];
    assert_eq!(pod["containers"]["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(pod["volumes"]["x-kubernetes-patch-strategy"], "merge,retainKeys");
    assert_eq!(pod["nodeSelector"], json!({"type": "object", "additionalProperties": {"type": "string"}}));
    // The fields of a message that stands in another one are among its own.
    assert!(schemas["io.k8s.api.core.v1.Volume"]["properties"]["emptyDir"].is_object());
    let list = &schemas["io.k8s.api.apps.v1.DeploymentList"]["properties"]["items"];
    assert_eq!(list["items"]["$ref"], "#/components/schemas/io.k8s.api.apps.v1.Deployment");
}

#[tokio::test]
async fn paths_say_what_may_be_asked() {
    let (server, _) = start();
    let apps = document(&server, "/openapi/v3/apis/apps/v1").await;
    let path = "/apis/apps/v1/namespaces/{namespace}/deployments";
    let item = &apps["paths"][format!("{path}/{{name}}")];
    let names: Vec<_> =
        item["patch"]["parameters"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["fieldValidation", "dryRun", "fieldManager", "force"]);
    let contents = item["patch"]["requestBody"]["content"].as_object().unwrap();
    assert!(contents.contains_key("application/strategic-merge-patch+json"));
    let scale = &apps["paths"][format!("{path}/{{name}}/scale")]["put"];
    assert_eq!(
        scale["x-kubernetes-group-version-kind"],
        json!({"group": "autoscaling", "version": "v1", "kind": "Scale"})
    );
    assert_eq!(apps["paths"][path]["delete"]["x-kubernetes-action"], "deletecollection");
    assert!(apps["paths"]["/apis/apps/v1/deployments"]["get"].is_object());
}

#[tokio::test]
async fn whatever_is_referred_to_is_there() {
    let (server, client) = start();
    define_widgets(&client).await;
    let paths = index(&server).await;
    assert!(paths.len() > 20);
    for (path, url) in paths {
        let document = document(&server, &url).await;
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for reference in found {
            let name = reference.strip_prefix("#/components/schemas/").unwrap();
            assert!(document["components"]["schemas"][name].is_object(), "{path}: {name}");
        }
    }
}

#[tokio::test]
async fn a_document_has_another_address_when_it_changes() {
    let (server, client) = start();
    let before = index(&server).await;
    define_widgets(&client).await;
    let after = index(&server).await;
    assert!(before.iter().all(|entry| after.contains(entry)), "other groups stay what they are");
    assert_eq!(after.len(), before.len() + 2);
}

#[tokio::test]
async fn version_2_has_everything_in_one_document() {
    let (server, client) = start();
    define_widgets(&client).await;
    let all = document(&server, "/openapi/v2").await;
    let definitions = all["definitions"].as_object().unwrap();
    let mut found = BTreeSet::new();
    references(&all, &mut found);
    for reference in found {
        assert!(definitions.contains_key(reference.strip_prefix("#/definitions/").unwrap()), "{reference}");
    }
    let deployment = &definitions["io.k8s.api.apps.v1.Deployment"];
    assert_eq!(
        deployment["properties"]["spec"],
        json!({"$ref": "#/definitions/io.k8s.api.apps.v1.DeploymentSpec"})
    );
    let port = &definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"];
    assert_eq!(port, &json!({"type": "string", "format": "int-or-string"}));
    assert!(definitions.contains_key("com.example.v1.Widget"));
    let patch = &all["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]["patch"];
    assert_eq!(
        (&patch["parameters"][0]["in"], &patch["parameters"][1]["name"]),
        (&json!("body"), &json!("fieldValidation"))
    );

    let accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let bytes = ask(&server, "/openapi/v2", accept).await;
    let document = fields(&bytes);
    let count = |number: u64, entry: u64| {
        let inner = document.iter().find(|(found, _)| *found == number).unwrap().1;
        fields(inner).iter().filter(|(found, _)| *found == entry).count()
    };
    assert_eq!(count(9, 1), definitions.len());
    assert_eq!(count(8, 2), all["paths"].as_object().unwrap().len());
}

/// The fields of a message that has nothing but texts and messages.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        assert_eq!(tag & 7, 2);
        let length = usize::try_from(varint(&mut bytes)).unwrap();
        let (field, rest) = bytes.split_at(length);
        found.push((tag >> 3, field));
        bytes = rest;
    }
    found
}

//! What every cluster has from its start.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use std::time::Duration;

use common::{dynamic, object, refusal, start};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::{Controllers, ListenOptions};
use serde_json::json;

const EVERYWHERE: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Looks until `fact` holds; tests that listen have no other clock than the real one.
async fn eventually<F: Future<Output = bool>>(what: &str, fact: impl Fn() -> F) {
    let looking = async {
        while !fact().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(60), looking).await.is_ok(), "never: {what}");
}

#[tokio::test(start_paused = true)]
async fn the_service_of_the_api_server_is_always_there() {
    let (_server, client) = start();
    let services = dynamic(&client, "", "v1", "Service", "services");
    let made = services.get("kubernetes").await.unwrap();
    assert_eq!(made.data["spec"]["clusterIP"], "10.0.0.1");
    assert_eq!(made.labels()["component"], "apiserver");
    services.delete("kubernetes", &DeleteParams::default()).await.unwrap();
    let again = services.get("kubernetes").await.unwrap();
    assert_ne!(again.uid(), made.uid());
    services.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    let again = services.get("kubernetes").await.unwrap();
    assert_eq!(again.data["spec"], made.data["spec"]);

    let service = object(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "other"},
        "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 80}]}}));
    let (code, _, message) = refusal(services.create(&PostParams::default(), &service).await);
    assert_eq!((code, message.contains("provided IP is already allocated")), (422, true), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_namespace_of_the_system_comes_back() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let namespaces: Api<Namespace> = Api::all(client);
    let made = namespaces.get("kube-node-lease").await.unwrap();
    namespaces.delete("kube-node-lease", &DeleteParams::default()).await.unwrap();
    eventually("another one of its name", async || {
        let found = namespaces.get_opt("kube-node-lease").await.unwrap();
        found.is_some_and(|found| found.uid() != made.uid())
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn every_namespace_has_an_account_and_the_certificate_whatever_is_done_to_them() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": "team"}})).unwrap();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    for namespace in EVERYWHERE.into_iter().chain(["team"]) {
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
        let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let complete = async || {
            let data = config_maps.get_opt("kube-root-ca.crt").await.unwrap().and_then(|found| found.data);
            accounts.get_opt("default").await.unwrap().is_some()
                && data == Some([("ca.crt".to_owned(), String::new())].into())
        };
        eventually("both are made", complete).await;
        accounts.delete("default", &DeleteParams::default()).await.unwrap();
        eventually("the account comes back", complete).await;
        config_maps.delete("kube-root-ca.crt", &DeleteParams::default()).await.unwrap();
        eventually("the certificate comes back", complete).await;
        let other = Patch::Merge(json!({"data": {"ca.crt": "mine", "more": "mine"}}));
        config_maps.patch("kube-root-ca.crt", &PatchParams::default(), &other).await.unwrap();
        eventually("the certificate is put right", complete).await;
    }
    namespaces.delete("team", &DeleteParams::default()).await.unwrap();
    eventually("they hold no namespace up", async || namespaces.get_opt("team").await.unwrap().is_none())
        .await;
}

#[tokio::test]
async fn the_certificate_is_that_of_the_door() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let config_maps: Api<ConfigMap> = Api::default_namespaced(client);
    eventually("it is made", async || config_maps.get_opt("kube-root-ca.crt").await.unwrap().is_some()).await;
    let listener = server.listen(ListenOptions::default()).await.unwrap();
    let certificate = listener.ca_certificate().unwrap();
    eventually("it is the one of the door", async || {
        let data = config_maps.get("kube-root-ca.crt").await.unwrap().data.unwrap();
        data["ca.crt"] == certificate
    })
    .await;
    listener.shutdown().await;
}

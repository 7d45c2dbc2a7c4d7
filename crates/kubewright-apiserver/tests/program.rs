//! The program, from its first line to the signal that ends it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{os::unix::fs::PermissionsExt, path::Path, process::Stdio};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client, Config,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// Starts the program and waits for the line that says where it listens.
async fn start(arguments: &[&str]) -> (Child, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_kubewright-apiserver"))
        .args(arguments)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let line = lines.next_line().await.unwrap().expect("it says where it listens");
    let url = line.strip_prefix("listening on ").unwrap().to_owned();
    (program, url)
}

async fn stop(mut program: Child, signal: &str) {
    let id = program.id().unwrap().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().await.unwrap().success());
    assert!(program.wait().await.unwrap().success(), "it ends in order");
}

async fn client_of(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap())
        .unwrap()
}

#[tokio::test]
async fn it_writes_a_kubeconfig_that_nobody_else_can_read() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tls.kubeconfig");
    // A file from an earlier run, which others may read, does not lend its mode to the new one.
    std::fs::write(&path, "old").unwrap();
    let (program, url) = start(&["--listen", "127.0.0.1:0", "--kubeconfig", path.to_str().unwrap()]).await;
    assert!(url.starts_with("https://127.0.0.1:"));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client_of(&path).await);
    assert_eq!(namespaces.list(&ListParams::default()).await.unwrap().items.len(), 4);
    stop(program, "-TERM").await;
}

#[tokio::test]
async fn it_runs_controllers_when_asked() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plain.kubeconfig");
    let (program, url) = start(&["--plain", "--controllers", "--kubeconfig", path.to_str().unwrap()]).await;
    assert!(url.starts_with("http://127.0.0.1:"));
    let deployments: Api<Deployment> = Api::default_namespaced(client_of(&path).await);
    let mut events = deployments.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    let deployment = serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}}}}));
    deployments.create(&PostParams::default(), &deployment.unwrap()).await.unwrap();
    let available = |event: &WatchEvent<Deployment>| match event {
        WatchEvent::Modified(seen) => {
            seen.status.as_ref().and_then(|status| status.available_replicas) == Some(1)
        }
        _ => false,
    };
    while let Some(event) = events.try_next().await.unwrap() {
        if available(&event) {
            stop(program, "-INT").await;
            return;
        }
    }
    panic!("the watch has ended before the deployment was available");
}

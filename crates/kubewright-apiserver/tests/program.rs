//! The program, from its first line to the signal that ends it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Namespace};
use kube::{
    Api, Client, Config,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubewright-apiserver");

/// Starts the program and waits for the line that says where it listens.
async fn start(arguments: &[&str]) -> (Child, String) {
    let mut program =
        Command::new(PROGRAM).args(arguments).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
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
        "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}}));
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

/// A folder of its own for a test, with the links that `assets` makes.
async fn assets(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    let output = run(Path::new(PROGRAM), &["assets", folder.to_str().unwrap()]).await;
    assert!(output.status.success());
    let folder = folder.canonicalize().unwrap();
    assert_eq!(text(&output.stdout), format!("export KUBEBUILDER_ASSETS='{}'\n", folder.display()));
    folder
}

async fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).kill_on_drop(true).output().await.unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A CA, and a certificate of it, as PEM: CA, certificate, key.
fn certificate(purpose: ExtendedKeyUsagePurpose) -> (String, String, String) {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let ca = authority.self_signed(&authority_key).unwrap().pem();
    let mut leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    leaf.extended_key_usages = vec![purpose];
    let key = KeyPair::generate().unwrap();
    let certificate = leaf.signed_by(&key, &Issuer::new(authority, authority_key)).unwrap();
    (ca, certificate.pem(), key.serialize_pem())
}

/// A client that trusts `ca` and shows `certificate`.
async fn client_with(url: &str, ca: &str, certificate: &str, key: &str) -> Client {
    let encode = |text: &str| STANDARD.encode(text);
    let kubeconfig: Kubeconfig = serde_json::from_value(json!({
        "clusters": [{"name": "it", "cluster": {"server": url, "certificate-authority-data": encode(ca)}}],
        "users": [{"name": "it", "user": {
            "client-certificate-data": encode(certificate), "client-key-data": encode(key)}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "current-context": "it",
    }))
    .unwrap();
    Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap())
        .unwrap()
}

#[tokio::test]
async fn it_stands_in_for_kube_apiserver_in_a_test_environment() {
    let folder = assets("stand-in").await;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (ca, chain, key) = certificate(ExtendedKeyUsagePurpose::ServerAuth);
    write("apiserver.crt", &chain);
    write("apiserver.key", &key);
    let (client_ca, client_chain, client_key) = certificate(ExtendedKeyUsagePurpose::ClientAuth);
    let client_ca_file = write("client-cert-auth-ca.crt", &client_ca);
    let port = free_port();
    let arguments = [
        "--allow-privileged=true".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--cert-dir={}", folder.display()),
        format!("--client-ca-file={client_ca_file}"),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--etcd-servers=http://127.0.0.1:2379".to_owned(),
        format!("--secure-port={port}"),
        "--service-account-issuer=https://127.0.0.1/".to_owned(),
        "--service-account-key-file=sa.crt".to_owned(),
        "--service-account-signing-key-file=sa.key".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
    ];
    let program =
        Command::new(folder.join("kube-apiserver")).args(&arguments).kill_on_drop(true).spawn().unwrap();
    connected(port).await;

    let url = format!("https://127.0.0.1:{port}");
    let namespaces: Api<Namespace> = Api::all(client_with(&url, &ca, &client_chain, &client_key).await);
    assert!(namespaces.get("default").await.is_ok());
    let (_, stranger, stranger_key) = certificate(ExtendedKeyUsagePurpose::ClientAuth);
    let namespaces: Api<Namespace> = Api::all(client_with(&url, &ca, &stranger, &stranger_key).await);
    assert!(namespaces.get("default").await.is_err(), "its CA is not the one of the flags");
    stop(program, "-TERM").await;
}

#[tokio::test]
async fn it_stands_in_for_etcd_in_a_test_environment() {
    let folder = assets("etcd").await;
    let port = free_port();
    let program = Command::new(folder.join("etcd"))
        .args([format!("--listen-client-urls=http://127.0.0.1:{port}"), "--unsafe-no-fsync=true".into()])
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut connection = connected(port).await;
    connection.write_all(b"GET /health HTTP/1.1\r\nhost: it\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""health":"true""#), "{answer}");
    stop(program, "-TERM").await;
}

/// Waits until somebody listens on the port.
async fn connected(port: u16) -> TcpStream {
    loop {
        match TcpStream::connect(("127.0.0.1", port)).await {
            Ok(stream) => return stream,
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test]
async fn what_is_wrong_ends_it_with_1_and_a_reason() {
    let folder = assets("wrong").await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    std::fs::write(folder.join("empty.pem"), "").unwrap();
    let half = folder.join("half");
    std::fs::create_dir(&half).unwrap();
    std::fs::write(half.join("apiserver.crt"), "").unwrap();
    let check = async |program: &Path, arguments: &[&str], reason: &str| {
        let output = run(program, arguments).await;
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(reason), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    };
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let kube_apiserver = folder.join("kube-apiserver");
    let address = format!("127.0.0.1:{port}");
    for (program, arguments, reason) in [
        (Path::new(PROGRAM), vec!["--nonsense".to_owned()], "--nonsense"),
        (Path::new(PROGRAM), vec![format!("--listen={address}")], "in use"),
        (Path::new(PROGRAM), vec!["--kubeconfig=/nowhere/at/all".to_owned()], "/nowhere/at/all"),
        (Path::new(PROGRAM), vec!["assets".to_owned(), path("empty.pem")], "empty.pem"),
        (&kube_apiserver, vec!["--feature-gates=A=true".to_owned()], "--feature-gates"),
        (&kube_apiserver, vec!["--authorization-mode=AlwaysDeny".to_owned()], "AlwaysDeny"),
        (
            &kube_apiserver,
            vec!["--bind-address=127.0.0.1".to_owned(), format!("--secure-port={port}")],
            "in use",
        ),
        (
            &kube_apiserver,
            vec!["--client-ca-file=/nowhere.crt".to_owned()],
            "--client-ca-file: failed to read /nowhere.crt",
        ),
        (
            &kube_apiserver,
            vec!["--secure-port=0".to_owned(), format!("--client-ca-file={}", path("empty.pem"))],
            "certificate authorities of clients",
        ),
        (&kube_apiserver, vec!["--tls-cert-file=a".to_owned()], "--tls-private-key-file"),
        (
            &kube_apiserver,
            vec![format!("--cert-dir={}", path("half"))],
            "only one of apiserver.crt and apiserver.key",
        ),
        (&folder.join("etcd"), vec!["--listen-client-urls=unix://a".to_owned()], "--listen-client-urls"),
        (&folder.join("etcd"), vec![format!("--listen-client-urls=http://{address}")], "in use"),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        check(program, &arguments, reason).await;
    }
}

#[tokio::test]
async fn assets_replace_links_and_no_files() {
    let folder = assets("again").await;
    assert_eq!(assets_again(&folder).await, Some(0));
    std::fs::remove_file(folder.join("etcd")).unwrap();
    std::fs::write(folder.join("etcd"), "somebody's own").unwrap();
    assert_eq!(assets_again(&folder).await, Some(1));
    assert_eq!(std::fs::read_to_string(folder.join("etcd")).unwrap(), "somebody's own");
}

async fn assets_again(folder: &Path) -> Option<i32> {
    run(Path::new(PROGRAM), &["assets", folder.to_str().unwrap()]).await.status.code()
}

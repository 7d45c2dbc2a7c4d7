//! What `/metrics` serves, and to whom.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

use common::{
    Counter, config_map,
    http::{get, get_with},
    key,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    http_server::RegisterError,
    manager::Manager,
    metrics::{MetricsAccess, MetricsServerOptions, Registry},
    prelude::*,
};
use kubewright_testing::{RunningManager, TestEnv};
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn served(
    env: &TestEnv,
    change: impl FnOnce(&mut MetricsServerOptions),
    add: impl FnOnce(&Manager),
) -> (RunningManager, SocketAddr) {
    let mut options = MetricsServerOptions::default();
    options.bind_address = "127.0.0.1:0".parse().unwrap();
    change(&mut options);
    let manager = env.manager().metrics_registry(Registry::new()).metrics_server(options);
    let manager = manager.build().await.unwrap();
    add(&manager);
    let handle = manager.clone();
    let running = env.run(manager);
    let address = handle.metrics_address().await;
    (running, address)
}

/// What the dashboards ask for that kubebuilder's grafana plugin writes: each name, with the labels that it is grouped by.
///
/// Source: kubebuilder `plugins/optional/grafana/v1alpha`, `controller-runtime-metrics.json` and `controller-resources-metrics.json`.
const DASHBOARDS: [(&str, &[&str]); 11] = [
    ("controller_runtime_active_workers", &["controller"]),
    ("controller_runtime_reconcile_total", &["controller"]),
    ("controller_runtime_reconcile_errors_total", &["controller"]),
    ("workqueue_depth", &["name"]),
    ("workqueue_queue_duration_seconds_bucket", &["name", "le"]),
    ("workqueue_adds_total", &["name"]),
    ("workqueue_unfinished_work_seconds", &["name"]),
    ("workqueue_work_duration_seconds_bucket", &["name", "le"]),
    ("workqueue_retries_total", &["name"]),
    ("process_cpu_seconds_total", &[]),
    ("process_resident_memory_bytes", &[]),
];

/// Names of series, each with the names of its labels.
fn series(text: &str) -> Vec<(&str, BTreeSet<&str>)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let split = lines.map(|line| {
        let (series, _) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let labels = labels.split("\",").filter_map(|label| label.split_once('=')).map(|(name, _)| name);
        (name, labels.collect())
    });
    split.collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn dashboards_of_controller_runtime_find_all_that_they_ask_for() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let counter = Counter::default();
    let (running, address) = served(
        &env,
        |_| (),
        |manager| {
            Controller::builder(manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
        },
    )
    .await;
    counter.wait_for(&key("a"), 1).await;
    let (status, text) = get(address, "/metrics").await;
    assert_eq!(status, 200);
    let served = series(&text);
    for (name, labels) in DASHBOARDS {
        let found = served
            .iter()
            .any(|(served, has)| *served == name && labels.iter().all(|label| has.contains(label)));
        assert!(found, "{name} with {labels:?} is not in\n{text}");
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn the_client_chooses_the_form() {
    let env = TestEnv::start().await;
    let (running, address) = served(
        &env,
        |_| (),
        |manager| {
            let own = prometheus::IntCounter::new("baskets_total", "Baskets").unwrap();
            manager.metrics_registry().register(own).unwrap();
        },
    )
    .await;
    let plain = get_with(address, "/metrics", &[]).await;
    assert!(plain.head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{}", plain.head);
    assert!(plain.body.contains("# TYPE baskets_total counter\nbaskets_total 0\n"), "{}", plain.body);
    assert!(plain.body.contains("\ntokio_alive_tasks "), "{}", plain.body);
    let open = get_with(address, "/metrics", &["Accept: application/openmetrics-text;version=1.0.0"]).await;
    let form = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(open.head.contains(form), "{}", open.head);
    assert!(open.body.contains("# TYPE baskets counter\nbaskets_total 0.0\n"), "{}", open.body);
    assert!(open.body.ends_with("# EOF\n"), "{}", open.body);
    running.stop().await.unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "metrics are served after the stop");
}

/// Says hello.
fn hello() -> impl tower_service::Service<
    http::Request<http_body_util::Full<bytes::Bytes>>,
    Response = http::Response<http_body_util::Full<bytes::Bytes>>,
    Error = std::convert::Infallible,
    Future: Send,
> + Clone
+ Send
+ Sync
+ 'static {
    tower::service_fn(|_| async { Ok(http::Response::new(http_body_util::Full::from("hello"))) })
}

#[tokio::test]
async fn handlers_of_ones_own_are_served_beside_the_metrics() {
    let env = TestEnv::start().await;
    let (running, address) = served(
        &env,
        |_| (),
        |manager| {
            manager.add_metrics_server_extra_handler("/hello", hello()).unwrap();
            let taken = |path: &str| manager.add_metrics_server_extra_handler(path, hello()).unwrap_err();
            assert_eq!(taken("/metrics"), RegisterError::Taken("/metrics".to_owned()));
            assert_eq!(taken("/hello"), RegisterError::Taken("/hello".to_owned()));
        },
    )
    .await;
    assert_eq!(get(address, "/hello").await, (200, "hello".to_owned()));
    assert_eq!(get(address, "/").await.0, 404);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn metrics_are_off_unless_asked_for() {
    let env = TestEnv::start().await;
    let manager = env.manager().metrics_registry(Registry::new()).build().await.unwrap();
    let handle = manager.clone();
    let running = env.run(manager);
    running.elected().await;
    assert!(futures::poll!(Box::pin(handle.metrics_address())).is_pending());
    assert!(!handle.metrics_registry().text().contains("process_cpu_seconds_total"));
    running.stop().await.unwrap();
}

#[tokio::test]
async fn who_shows_no_token_reads_no_metrics() {
    let env = TestEnv::start().await;
    let guarded = |options: &mut MetricsServerOptions| options.access = MetricsAccess::Authorized;
    let extra = |manager: &Manager| manager.add_metrics_server_extra_handler("/hello", hello()).unwrap();
    let (running, address) = served(&env, guarded, extra).await;
    for headers in [&[][..], &["Authorization: Basic dGVzdDp0ZXN0"], &["Authorization: Bearer "]] {
        for path in ["/metrics", "/hello"] {
            let answer = get_with(address, path, headers).await;
            assert_eq!(answer.status, 401, "{answer:?}");
            assert!(!answer.body.contains("process_") && !answer.body.contains("hello"), "{answer:?}");
        }
    }
    running.stop().await.unwrap();
}

/// `/metrics` over TLS, read by a client that trusts `roots`.
async fn get_tls(address: SocketAddr, roots: RootCertStore) -> std::io::Result<String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = tokio::net::TcpStream::connect(address).await?;
    let mut stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn a_secure_server_shows_the_certificate_of_its_folder() {
    let folder = std::env::temp_dir().join(format!("kubewright-{:016x}", fastrand::u64(..)));
    std::fs::create_dir(&folder).unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("tls.crt"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("tls.key"), made.signing_key.serialize_pem()).unwrap();
    let env = TestEnv::start().await;
    let secure = |options: &mut MetricsServerOptions| {
        options.secure_serving = true;
        options.certificate_directory = Some(folder.clone());
    };
    let (running, address) = served(&env, secure, |_| ()).await;
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let answer = get_tls(address, roots).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    running.stop().await.unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_secure_server_without_a_folder_makes_a_certificate() {
    let env = TestEnv::start().await;
    let (running, address) = served(&env, |options| options.secure_serving = true, |_| ()).await;
    let refused = get_tls(address, RootCertStore::empty()).await.unwrap_err();
    // It was shown one, which nobody has signed.
    assert!(refused.to_string().contains("UnknownIssuer"), "{refused}");
    running.stop().await.unwrap();
}

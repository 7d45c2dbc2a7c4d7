//! What probes are answered.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::net::SocketAddr;

use common::http::{get, get_with};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{BoxError, healthz, manager::Manager};
use kubewright_testing::{RunningManager, TestEnv};

async fn probed(env: &TestEnv, add: impl FnOnce(&Manager)) -> (RunningManager, SocketAddr) {
    let address = "127.0.0.1:0".parse().unwrap();
    let manager = env.manager().health_probe_bind_address(address).build().await.unwrap();
    add(&manager);
    let handle = manager.clone();
    let running = env.run(manager);
    let address = handle.health_probe_address().await;
    (running, address)
}

async fn broken() -> Result<(), BoxError> {
    Err("the disk is full".into())
}

async fn panics() -> Result<(), BoxError> {
    panic!("the check is broken")
}

#[tokio::test]
async fn probes_are_answered_in_upstreams_words() {
    let env = TestEnv::start().await;
    let (running, address) = probed(&env, |manager| {
        manager.add_healthz_check("ping", healthz::ping);
        manager.add_healthz_check("also", healthz::ping);
        manager.add_readyz_check("ping", healthz::ping);
        manager.add_readyz_check("disk", broken);
        manager.add_readyz_check("odd", panics);
    })
    .await;
    let passed = "[+]also ok\n[+]ping ok\nhealthz check passed\n";
    let failed =
        "[-]disk failed: reason withheld\n[-]odd failed: reason withheld\n[+]ping ok\nhealthz check failed\n";
    let one_excluded =
        "[+]disk excluded: ok\n[-]odd failed: reason withheld\n[+]ping ok\nhealthz check failed\n";
    let all_excluded = "[+]disk excluded: ok\n[+]odd excluded: ok\n[+]ping ok\nhealthz check passed\n";
    let unknown = "[+]also ok\n[+]ping ok\nwarn: some health checks cannot be excluded: no matches for \"a\",\"b\"\nhealthz check passed\n";
    for (path, status, body) in [
        ("/healthz", 200, "ok"),
        ("/healthz/", 200, "ok"),
        ("/healthz?verbose", 200, passed),
        ("/healthz?verbose=1", 200, passed),
        ("/healthz?exclude=b&exclude=a", 200, "ok"),
        ("/healthz?verbose&exclude=b&exclude=a", 200, unknown),
        ("/healthz/ping", 200, "ok"),
        ("/healthz/disk", 404, "404 page not found\n"),
        ("/readyz", 500, failed),
        ("/readyz?exclude=disk", 500, one_excluded),
        ("/readyz?exclude=disk&exclude=odd", 200, "ok"),
        ("/readyz?exclude=disk&exclude=odd&verbose", 200, all_excluded),
        ("/readyz/ping", 200, "ok"),
        ("/readyz/disk", 500, "internal server error: the disk is full\n"),
        ("/readyz/odd", 500, "internal server error: the check panicked: the check is broken\n"),
        ("/", 404, "404 page not found\n"),
        ("/metrics", 404, "404 page not found\n"),
    ] {
        assert_eq!(get(address, path).await, (status, body.to_owned()), "{path}");
    }
    let head = get_with(address, "/readyz", &[]).await.head;
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    running.stop().await.unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "probes are answered after the stop");
}

#[tokio::test]
async fn an_endpoint_without_checks_says_that_it_is_there() {
    let env = TestEnv::start().await;
    let (running, address) = probed(&env, |_| ()).await;
    assert_eq!(get(address, "/readyz?verbose").await.1, "[+]ping ok\nhealthz check passed\n");
    assert_eq!(get(address, "/readyz/ping").await, (200, "ok".to_owned()));
    running.stop().await.unwrap();
}

#[tokio::test]
async fn endpoints_may_have_other_names() {
    let env = TestEnv::start().await;
    let builder = env.manager().health_probe_bind_address("127.0.0.1:0".parse().unwrap());
    let builder = builder.liveness_endpoint_name("/alive").readiness_endpoint_name("/ready");
    let manager = builder.build().await.unwrap();
    let handle = manager.clone();
    let running = env.run(manager);
    let address = handle.health_probe_address().await;
    let mut statuses = Vec::new();
    for path in ["/alive", "/ready", "/healthz"] {
        statuses.push(get(address, path).await.0);
    }
    assert_eq!(statuses, [200, 200, 404]);
    running.stop().await.unwrap();

    let same = env.manager().liveness_endpoint_name("/up").readiness_endpoint_name("/up").build().await;
    assert_eq!(same.unwrap_err().to_string(), "failed to mount an endpoint");
}

#[tokio::test]
async fn informers_are_a_check() {
    let env = TestEnv::start().await;
    let (running, address) = probed(&env, |manager| {
        manager.cache().watch::<ConfigMap>();
        manager.add_readyz_check("informers", manager.cache().clone());
    })
    .await;
    running.elected().await;
    assert_eq!(get(address, "/readyz/informers").await, (200, "ok".to_owned()));
    running.stop().await.unwrap();

    let cache = env.manager().build().await.unwrap().cache().clone();
    let said = kubewright::healthz::Check::check(&cache).await.unwrap_err();
    assert_eq!(said.to_string(), "the cache is not started, can not read objects");
}

/// Hangs.
async fn silent() -> Result<(), BoxError> {
    std::future::pending().await
}

#[tokio::test]
async fn a_slow_check_keeps_no_other_waiting() {
    let env = TestEnv::start().await;
    let (running, address) = probed(&env, |manager| {
        manager.add_readyz_check("a", silent);
        manager.add_readyz_check("b", healthz::ping);
    })
    .await;
    assert_eq!(get(address, "/readyz/b").await.0, 200);
    assert_eq!(get(address, "/readyz?exclude=a").await.0, 200);
    running.stop().await.unwrap();
}

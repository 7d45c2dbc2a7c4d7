//! What a cache says when it cannot serve.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::time::Duration;

use common::{Counter, config_map, key};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    cache::{Cache, CacheOptions},
    handler,
    prelude::*,
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, RequestInfo, Status, Verb},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

fn of_config_maps(request: &RequestInfo) -> bool {
    request.is(Verb::List, "configmaps") || request.is(Verb::Watch, "configmaps")
}

/// What a first read of a kind says, and after how many seconds, while the API server answers with `code`; once the fault is gone, reads work.
async fn check_first_read(code: u16, reason: &str, expected: &str, seconds: u64) {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    let answer = Status::new(http::StatusCode::from_u16(code).unwrap(), reason, "the words");
    let fault = env.server().faults().add(Fault::respond(answer).when(of_config_maps).always());
    for _ in 0..2 {
        let start = Instant::now();
        let error = client.get::<ConfigMap>(&key("a")).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(start.elapsed().as_secs(), seconds);
    }
    fault.remove();
    // The reflector tries again within its longest backoff.
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(100)).await;
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_definite_refusal_fails_a_read_at_once_and_is_not_for_ever() {
    let refused = "the API server does not let the cache read ConfigMap: the API server answered";
    check_first_read(403, "Forbidden", &format!("{refused} 403 Forbidden: the words"), 0).await;
    check_first_read(401, "Unauthorized", &format!("{refused} 401 Unauthorized: the words"), 0).await;
    check_first_read(404, "NotFound", &format!("{refused} 404 NotFound: the words; is it installed?"), 0)
        .await;
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_waited_for() {
    let late = "failed to wait for the cache of ConfigMap to sync within 120s: the API server answered";
    check_first_read(503, "ServiceUnavailable", &format!("{late} 503 ServiceUnavailable: the words"), 120)
        .await;
}

/// What a controller says that watches ConfigMaps in `cache`, and after how many seconds.
async fn check_watch(env: &TestEnv, cache: &Cache, expected: &str) {
    let manager = env.manager().build().await.unwrap();
    Controller::builder(&manager)
        .named("watching")
        .watches_raw_source(source::kind::<ConfigMap, _>(cache, handler::enqueue_request_for_object()))
        .complete(Counter::default())
        .unwrap();
    let start = Instant::now();
    let error = env.run(manager).ended().await.unwrap_err();
    let first: &dyn std::error::Error = &error;
    let chain: Vec<_> =
        std::iter::successors(Some(first), |error| error.source()).map(ToString::to_string).collect();
    assert_eq!(chain.last().unwrap(), expected, "{chain:?}");
    assert_eq!(start.elapsed().as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_nobody_runs_says_so_at_once() {
    let env = TestEnv::start().await;
    let cache = Cache::new(env.kube(), CacheOptions::default());
    let not_started = "the cache is not started, can not read objects";
    assert_eq!(cache.get::<ConfigMap>(&key("a")).await.unwrap_err().to_string(), not_started);
    assert_eq!(cache.wait_for_cache_sync().await.unwrap_err().to_string(), not_started);
    check_watch(&env, &cache, not_started).await;
}

#[tokio::test(start_paused = true)]
async fn a_cache_whose_run_was_dropped_says_so_at_once() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let cache = Cache::new(env.kube(), CacheOptions::default());
    let running = tokio::task::JoinSet::from_iter([cache.start(CancellationToken::new())]);
    cache.get::<ConfigMap>(&key("a")).await.unwrap();
    drop(running);
    tokio::task::yield_now().await;
    let stopped = "the cache has stopped";
    assert_eq!(cache.get::<ConfigMap>(&key("a")).await.unwrap_err().to_string(), stopped);
    check_watch(&env, &cache, stopped).await;
}

#[tokio::test(start_paused = true)]
async fn a_controller_whose_cache_stops_fails_instead_of_hearing_nothing() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let cache = Cache::new(env.kube(), CacheOptions::default());
    let running = tokio::task::JoinSet::from_iter([cache.start(CancellationToken::new())]);
    let manager = env.manager().build().await.unwrap();
    let counter = Counter::default();
    Controller::builder(&manager)
        .named("watching")
        .watches_raw_source(source::kind::<ConfigMap, _>(&cache, handler::enqueue_request_for_object()))
        .complete(counter.clone())
        .unwrap();
    let controlled = env.run(manager);
    counter.wait_for(&key("a"), 1).await;
    drop(running);
    let error = controlled.ended().await.unwrap_err();
    assert_eq!(error.to_string(), "controller watching failed");
    let cause = std::error::Error::source(&error).unwrap();
    assert_eq!(cause.to_string(), "kind source: ConfigMap failed");
    assert_eq!(cause.source().unwrap().to_string(), "the cache has stopped");
}

#[tokio::test(start_paused = true)]
async fn a_condition_may_ask_the_cache_itself() {
    let env = TestEnv::start().await;
    let cache = Cache::new(env.kube(), CacheOptions::default());
    let _running = tokio::task::JoinSet::from_iter([cache.start(CancellationToken::new())]);
    let (wanted, object) = (key("a"), config_map("a", &[]));
    let waited = cache.wait_for::<ConfigMap>(&wanted, |object| {
        // Its Debug form takes the locks that an informer has.
        assert!(format!("{cache:?}").contains("ConfigMap"));
        object.is_some()
    });
    let (waited, _) = tokio::join!(waited, env.create(&object));
    assert!(waited.unwrap().is_some());
}

//! What a cache says when it cannot serve.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use common::{Counter, config_map, key, secret};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright::{
    cache::{Cache, CacheOptions},
    client::ClientError,
    error_chain, handler,
    prelude::*,
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, RequestInfo, Status},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

fn of_config_maps(request: &RequestInfo) -> bool {
    request.follows("configmaps")
}

/// What a first read of a kind says, and after how many seconds, while the API server answers with `code`; once the fault is gone, reads work.
/// Gives the last error.
async fn check_first_read(code: u16, reason: &str, expected: &str, seconds: u64) -> ClientError {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    let answer = Status::new(http::StatusCode::from_u16(code).unwrap(), reason, "the words");
    let fault = env.server().faults().add(Fault::respond(answer).when(of_config_maps).always());
    let read = async || {
        let start = Instant::now();
        let error = client.get::<ConfigMap>(&key("a")).await.unwrap_err();
        assert_eq!(error_chain(&error), expected);
        assert_eq!(start.elapsed().as_secs(), seconds);
        error
    };
    read().await;
    let error = read().await;
    fault.remove();
    // The reflector tries again within its longest backoff.
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(100)).await;
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    running.stop().await.unwrap();
    error
}

#[tokio::test(start_paused = true)]
async fn a_definite_refusal_fails_a_read_at_once_and_is_not_for_ever() {
    for (code, reason, cause) in [
        (403, "Forbidden", "the API server answered 403 Forbidden: the words"),
        (401, "Unauthorized", "the API server answered 401 Unauthorized: the words"),
        (404, "NotFound", "the API server answered 404 NotFound: the words; is it installed?"),
    ] {
        let expected = format!(
            "failed to get ConfigMap \"default/a\": the API server does not let the cache read ConfigMap: {cause}"
        );
        let error = check_first_read(code, reason, &expected, 0).await;
        assert_eq!((error.is_forbidden(), error.is_not_found()), (code == 403, false), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_of_what_was_refused_is_answered_soon_after_it_is_allowed_and_floods_nobody() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let cache = Cache::new(env.kube(), CacheOptions::default());
    let _running = tokio::task::JoinSet::from_iter([cache.start(CancellationToken::new())]);
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let is_counted = move |request: &RequestInfo| {
        let is_one = of_config_maps(request);
        counted.fetch_add(is_one.into(), Ordering::Relaxed);
        is_one
    };
    let answer = Status::new(http::StatusCode::FORBIDDEN, "Forbidden", "the words");
    let fault = env.server().faults().add(Fault::respond(answer).when(is_counted).always());
    let read = async || {
        tokio::time::sleep_until(Instant::now() + Duration::from_millis(10)).await;
        cache.get::<ConfigMap>(&key("a")).await
    };
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        read().await.unwrap_err();
    }
    let asked = asked.load(Ordering::Relaxed);
    assert!((30..=62).contains(&asked), "{asked} requests in a minute");
    fault.remove();
    let allowed = Instant::now();
    while read().await.is_err() {}
    assert!(allowed.elapsed() <= Duration::from_millis(1100), "{:?}", allowed.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_waited_for() {
    let expected = "failed to get ConfigMap \"default/a\": failed to wait for the cache of ConfigMap to sync within 120s: \
                    the API server answered 503 ServiceUnavailable: the words";
    check_first_read(503, "ServiceUnavailable", expected, 120).await;
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
    assert!(error_chain(&error).ends_with(&format!(": {expected}")), "{}", error_chain(&error));
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

#[tokio::test(start_paused = true)]
async fn the_informer_of_a_watch_that_was_stopped_ends_and_a_later_watch_hears_all() {
    let env = TestEnv::start().await;
    env.create(&secret("a")).await;
    let of_secrets = |request: &RequestInfo| request.follows("secrets");
    let asked = env.server().faults().add(Fault::delay(Duration::ZERO).when(of_secrets).always());
    let manager = env.manager().build().await.unwrap();
    let (counter, cache) = (Counter::default(), manager.cache().clone());
    let controller = Controller::builder(&manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
    let running = env.run(manager);
    let watch = async |expected: usize| {
        let handler = handler::enqueue_request_for_object();
        let mut watch = controller.watch(source::kind::<Secret, _>(&cache, handler));
        watch.synced().await.unwrap();
        counter.wait_for(&key("a"), expected).await;
        watch.stop();
    };
    watch(1).await;
    watch(2).await;
    assert_eq!(asked.fired(), 1, "the second has come in time to share the informer of the first");
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(24 * 3600)).await;
    assert_eq!(asked.fired(), 1);
    watch(3).await;
    assert_eq!(asked.fired(), 2);
    running.stop().await.unwrap();
}

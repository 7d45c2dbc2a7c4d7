//! Handlers, predicates and mapping functions that fail or panic.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    event::Event,
    handler::{
        EventHandler, Requests, enqueue_request_for_object, try_enqueue_mapped, try_enqueue_mapped_async,
    },
    metrics::Registry,
    prelude::*,
};
use kubewright_testing::TestEnv;
use tokio::time::Instant;

use crate::{
    common::{Counter, Journal, config_map, key},
    step,
};

/// What a source makes of two ConfigMaps, `a` which it cannot handle at first, and `b`: both are reconciled, `b` before `a`, and the failures are
/// counted.
async fn check(reason: &str, source: impl FnOnce(&Manager, Counter) -> Box<dyn FnOnce(Builder) -> Builder>) {
    let env = TestEnv::start().await;
    let manager = env.manager().metrics_registry(Registry::new()).build().await.unwrap();
    let (tries, counter) = (Counter::default(), Counter::default());
    let add = source(&manager, tries.clone());
    add(Controller::builder(&manager).named("test")).complete(counter.clone()).unwrap();
    let running = env.run(manager.clone());
    env.create(&config_map("a", &[])).await;
    env.create(&config_map("b", &[])).await;
    counter.wait_for(&key("b"), 1).await;
    assert_eq!(counter.of(&key("a")), 0);
    counter.wait_for(&key("a"), 1).await;
    assert_eq!((tries.of(&key("a")), tries.of(&key("b"))), (4, 1));
    let counted = format!(
        r#"kubewright_source_event_failures_total{{controller="test",reason="{reason}",source="kind source: ConfigMap"}} 3"#
    );
    let text = manager.metrics_registry().text();
    assert!(text.contains(&counted), "{text}");
    running.stop().await.unwrap();
}

type Builder = kubewright::controller::Builder;

/// Whether this try of the object is one of the first three of `a`.
fn is_to_fail(tries: &Counter, object: &ConfigMap) -> bool {
    let key = Request::of(object);
    tries.count(&key);
    key.name() == "a" && tries.of(&key) <= 3
}

fn mapped(tries: &Counter, object: &ConfigMap) -> Result<Option<Request>, &'static str> {
    if is_to_fail(tries, object) { Err("not yet") } else { Ok(Some(Request::of(object))) }
}

fn watched(handler: impl EventHandler<ConfigMap>) -> Box<dyn FnOnce(Builder) -> Builder> {
    Box::new(|builder| builder.watches(handler))
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_mapping_fails_comes_again_and_holds_up_no_other() {
    check("error", |_, tries| watched(try_enqueue_mapped(move |object: &ConfigMap| mapped(&tries, object))))
        .await;
    check("error", |_, tries| {
        watched(try_enqueue_mapped_async(move |object: Arc<ConfigMap>| {
            std::future::ready(mapped(&tries, &object))
        }))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_handler_or_a_predicate_is_a_failure_of_its_event() {
    check("panic", |_, tries| {
        watched(move |event: &Event<ConfigMap>, requests: &Requests<'_, Request>| {
            let object = event.object().get().unwrap();
            assert!(!is_to_fail(&tries, &object), "not yet");
            requests.add(Request::of(&*object));
        })
    })
    .await;
    check("panic", |_, tries| {
        let predicate = move |event: &Event<ConfigMap>| {
            assert!(!is_to_fail(&tries, &event.object().get().unwrap()), "not yet");
            true
        };
        Box::new(|builder| {
            let options = kubewright::controller::WatchOptions::new().with_predicate(predicate);
            builder.watches_with(enqueue_request_for_object(), options)
        })
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn events_of_one_object_stay_in_order_while_its_first_one_fails() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let seen = Journal::default();
    let (journal, opens_at) = (seen.clone(), Instant::now() + Duration::from_secs(10));
    let handler = move |event: &Event<ConfigMap>, requests: &Requests<'_, Request>| {
        if Instant::now() < opens_at {
            return requests.fail("not yet");
        }
        let step = |object: Arc<ConfigMap>| object.metadata.labels.clone().unwrap()["step"].clone();
        let old = event.object_old().map(|object| step(object.get().unwrap()));
        journal.write(format!("{old:?} to {}", step(event.object().get().unwrap())));
    };
    Controller::builder(&manager).named("test").watches(handler).complete(Counter::default()).unwrap();
    let running = env.run(manager.clone());
    env.create(&step(&config_map("a", &[]), "1")).await;
    for next in ["2", "3"] {
        let patch = serde_json::json!({ "metadata": { "labels": { "step": next } } });
        let patch = kubewright::kube::api::Patch::Merge(patch);
        manager.client().patch::<ConfigMap, _>(&key("a"), &patch).await.unwrap();
    }
    seen.wait_for(r#"Some("2") to 3"#).await;
    assert_eq!(seen.lines(), ["None to 1", r#"Some("1") to 2"#, r#"Some("2") to 3"#]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_round_that_panics_is_tried_again_soon() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let rounds = Counter::default();
    let counted = rounds.clone();
    let round = move || {
        counted.count(&key("round"));
        assert!(counted.of(&key("round")) != 1, "not yet");
        std::future::ready(Ok::<_, BoxError>([key("a")]))
    };
    let counter =
        crate::control(&manager, source::interval(Duration::from_secs(1800), round).immediate_first_tick());
    let start = Instant::now();
    let running = env.run(manager);
    counter.wait_for(&key("a"), 1).await;
    assert_eq!((rounds.of(&key("round")), start.elapsed().as_secs()), (2, 1));
    running.stop().await.unwrap();
}

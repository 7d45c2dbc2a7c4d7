//! Events, as the API server and kubectl have them: the rows of controller-runtime's `pkg/internal/recorder`.
//!
//! | rows without a test | why |
//! |---|---|
//! | a provider fails if its client cannot be built | the manager's client is built before, and fails then |
//! | `GetEventRecorder` and `GetEventRecorderFor` are not nil; both kinds of methods are there | values are never nil, and there is one method |

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use k8s_openapi::api::{
    core::v1::{ConfigMap, Event as CoreEvent, ObjectReference},
    events::v1::Event as SeriesEvent,
};
use kube::api::ListParams;
use kubewright::{
    manager::Manager,
    metrics::Registry,
    prelude::*,
    recorder::{Event, EventRecorder},
};
use kubewright_testing::{
    RunningManager, TestEnv,
    apiserver::{Fault, RequestInfo, Status, Verb},
};
use tokio::time::{Instant, sleep};

struct World {
    env: TestEnv,
    manager: Manager,
    registry: Registry,
    config: ConfigMap,
}

impl World {
    async fn new() -> Self {
        let (env, registry) = (TestEnv::start().await, Registry::new());
        let manager = env.manager().metrics_registry(registry.clone()).build().await.unwrap();
        let key = Request::new("default", "web");
        let config = env.create(&ConfigMap { metadata: env.meta(&key), ..ConfigMap::default() }).await;
        Self { env, manager, registry, config }
    }

    fn run(&self) -> RunningManager {
        self.env.run(self.manager.clone())
    }

    async fn series(&self) -> Vec<SeriesEvent> {
        let api: kube::Api<SeriesEvent> = kube::Api::namespaced(self.env.kube(), "default");
        api.list(&ListParams::default()).await.unwrap().items
    }

    /// As `kubectl describe` asks.
    async fn described(&self) -> Vec<CoreEvent> {
        let api: kube::Api<CoreEvent> = kube::Api::namespaced(self.env.kube(), "default");
        let uid = self.config.metadata.uid.as_deref().unwrap();
        let about = format!(
            "involvedObject.name=web,involvedObject.namespace=default,involvedObject.kind=ConfigMap,involvedObject.uid={uid}"
        );
        api.list(&ListParams::default().fields(&about)).await.unwrap().items
    }

    #[track_caller]
    fn check_outcomes(&self, [written, dropped, refused, failed]: [u64; 4]) {
        let text = self.registry.text();
        for (outcome, count) in
            [("written", written), ("dropped", dropped), ("refused", refused), ("failed", failed)]
        {
            let line = format!("kubewright_events_total{{outcome=\"{outcome}\"}} {count}\n");
            assert!(text.contains(&line), "{line} is not in {text}");
        }
    }

    /// As client-go's `GetReference` names the object.
    fn reference(&self) -> ObjectReference {
        ObjectReference {
            resource_version: self.config.metadata.resource_version.clone(),
            ..kube::Resource::object_ref(&self.config, &())
        }
    }

    fn greet(&self, recorder: &EventRecorder, times: usize) {
        for _ in 0..times {
            recorder.record(&self.config, Event::normal("Greeted", "said hello").action("Greet"));
        }
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn is_event(request: &RequestInfo) -> bool {
    request.resource.as_ref().is_some_and(|resource| resource.resource == "events")
}

/// Upstream: "should publish events", of the new API, annotated or not.
#[tokio::test(start_paused = true)]
async fn an_event_is_published_as_it_was_told() {
    let world = World::new().await;
    let (recorder, running) = (world.manager.event_recorder("test-recorder"), world.run());
    let event = Event::warning("test-reason", "test-note").action("test-action").annotation("key", "value");
    recorder.record(&world.config, event.related(&world.config));
    running.stop().await.unwrap();

    let [event] = &world.series().await[..] else { panic!("one event") };
    let regarding = world.reference();
    assert_eq!(event.regarding.as_ref(), Some(&regarding));
    assert_eq!(event.related.as_ref(), Some(&regarding));
    for (field, expected) in [
        (&event.type_, "Warning"),
        (&event.reason, "test-reason"),
        (&event.action, "test-action"),
        (&event.note, "test-note"),
        (&event.reporting_controller, "test-recorder"),
    ] {
        assert_eq!(field.as_deref(), Some(expected));
    }
    assert!(event.reporting_instance.as_ref().unwrap().starts_with("test-recorder-"));
    assert!(event.event_time.is_some() && event.series.is_none());
    assert_eq!(event.metadata.annotations.as_ref().unwrap()["key"], "value");
}

/// Upstream: "should publish events", of the old API.
#[tokio::test(start_paused = true)]
async fn an_event_of_the_core_api_is_published_as_it_was_told() {
    let world = World::new().await;
    let (recorder, running) = (world.manager.core_event_recorder("test-recorder"), world.run());
    recorder.record(&world.config, Event::normal("test-reason", "test-msg"));
    running.stop().await.unwrap();

    let [event] = &world.described().await[..] else { panic!("one event") };
    assert_eq!(event.involved_object, world.reference());
    assert_eq!(event.type_.as_deref(), Some("Normal"));
    assert_eq!(event.reason.as_deref(), Some("test-reason"));
    assert_eq!(event.message.as_deref(), Some("test-msg"));
    assert_eq!(event.source.as_ref().unwrap().component.as_deref(), Some("test-recorder"));
    assert_eq!(event.count, Some(1));
}

#[tokio::test(start_paused = true)]
async fn both_kinds_of_events_are_seen_by_who_describes_the_object() {
    let world = World::new().await;
    let running = world.run();
    world.greet(&world.manager.event_recorder("series"), 5);
    world.greet(&world.manager.core_event_recorder("core"), 5);
    running.stop().await.unwrap();

    let events = world.described().await;
    let counts: Vec<_> =
        events.iter().map(|it| (it.count, it.series.as_ref().and_then(|it| it.count))).collect();
    assert!(counts.contains(&(None, Some(5))) && counts.contains(&(Some(5), None)), "{counts:?}");
    assert_eq!(counts.len(), 2);
}

/// Whoever stops loses nothing that was told before, not even how long a series is.
#[tokio::test(start_paused = true)]
async fn what_was_told_is_written_before_the_manager_ends() {
    let world = World::new().await;
    let recorder = world.manager.event_recorder("a");
    world.greet(&recorder, 1);
    let running = world.run();
    sleep(seconds(1)).await;
    assert_eq!(world.series().await[0].series, None);
    world.greet(&recorder, 41);
    running.stop().await.unwrap();
    let [event] = &world.series().await[..] else { panic!("one event") };
    assert_eq!(event.series.as_ref().unwrap().count, 42);

    // And afterwards nobody listens.
    world.greet(&recorder, 1);
    assert!(world.registry.text().contains("kubewright_events_total{outcome=\"dropped\"} 1\n"));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_events_wait_and_others_are_dropped_and_counted() {
    let world = World::new().await;
    let recorder = world.manager.event_recorder("a");
    for event in 0..1234 {
        recorder.record(&world.config, Event::normal(format!("Reason{event}"), ""));
    }
    world.check_outcomes([0, 234, 0, 0]);
    world.run().stop().await.unwrap();
    world.check_outcomes([1000, 234, 0, 0]);
    assert_eq!(world.series().await.len(), 1000);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_counted_and_not_sent_again() {
    let world = World::new().await;
    let status = Status::new(http::StatusCode::FORBIDDEN, "Forbidden", "events is forbidden");
    let refused = world.env.server().faults().add(Fault::respond(status).when(is_event).always());
    let (recorder, running) = (world.manager.event_recorder("a"), world.run());
    for _ in 0..10 {
        world.greet(&recorder, 10);
        sleep(seconds(30)).await;
    }
    assert_eq!(refused.fired(), 1);
    world.check_outcomes([0, 0, 1, 0]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_comes_back_has_all_events() {
    let world = World::new().await;
    let (recorder, running) = (world.manager.event_recorder("a"), world.run());
    let outage = world.env.server().faults().add(Fault::outage().when(is_event));
    for event in 0..20 {
        recorder.record(&world.config, Event::normal(format!("Reason{event}"), ""));
    }
    sleep(seconds(60)).await;
    assert!(outage.fired() >= 8);
    outage.remove();
    sleep(seconds(13)).await;
    assert_eq!(world.series().await.len(), 20);
    world.check_outcomes([20, 0, 0, 0]);
    running.stop().await.unwrap();
}

/// Source: client-go `maxTriesPerEvent`.
#[tokio::test(start_paused = true)]
async fn an_event_is_tried_twelve_times() {
    let world = World::new().await;
    let (recorder, running) = (world.manager.event_recorder("a"), world.run());
    let busy = Status::new(http::StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", "busy");
    let refused = world.env.server().faults().add(Fault::respond(busy).when(is_event).always());
    world.greet(&recorder, 1);
    sleep(seconds(600)).await;
    assert_eq!(refused.fired(), 12);
    world.check_outcomes([0, 0, 0, 1]);
    running.stop().await.unwrap();
}

/// The first answer is lost: the event is there, under a name that nobody else has.
#[tokio::test(start_paused = true)]
async fn an_event_whose_answer_was_lost_is_not_written_twice() {
    for of_core in [false, true] {
        let world = World::new().await;
        let recorder =
            if of_core { world.manager.core_event_recorder("a") } else { world.manager.event_recorder("a") };
        let running = world.run();
        world.env.server().faults().add(Fault::lose_answer().when(is_event));
        world.greet(&recorder, 2);
        sleep(seconds(13)).await;
        let [event] = &world.described().await[..] else { panic!("one event") };
        let count = event.series.as_ref().and_then(|series| series.count).or(event.count);
        assert_eq!(count, Some(2));
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_was_deleted_is_written_anew() {
    let world = World::new().await;
    let (recorder, running) = (world.manager.event_recorder("a"), world.run());
    world.greet(&recorder, 1);
    sleep(seconds(1)).await;
    let api: kube::Api<SeriesEvent> = kube::Api::namespaced(world.env.kube(), "default");
    let name = world.series().await[0].metadata.name.clone().unwrap();
    api.delete(&name, &kube::api::DeleteParams::default()).await.unwrap();
    world.greet(&recorder, 1);
    running.stop().await.unwrap();
    assert_eq!(world.series().await[0].series.as_ref().unwrap().count, 2);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_gone_does_not_keep_a_manager_from_its_end() {
    let world = World::new().await;
    let (recorder, running) = (world.manager.event_recorder("a"), world.run());
    running.elected().await;
    let delay = Fault::delay(seconds(3600)).when(|request| is_event(request) && request.verb == Verb::Create);
    world.env.server().faults().add(delay.always());
    world.greet(&recorder, 1);
    let asked = Instant::now();
    running.stop().await.unwrap();
    assert!(asked.elapsed() <= seconds(6), "{:?}", asked.elapsed());
    world.check_outcomes([0, 0, 0, 1]);
}

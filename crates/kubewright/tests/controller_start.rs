//! How controllers start, or do not, and how watches come and go while they run.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use common::{Counter, config_map, key, secret};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright::{
    event::Event,
    handler::{self, Requests},
    manager::StartError,
    prelude::*,
    source::SourceContext,
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, Status},
};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};

/// The error that ends a manager whose controller has `source`, with its causes.
async fn start_error(source: impl Source) -> Vec<String> {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    Controller::builder(&manager)
        .named("failing")
        .watches_raw_source(source)
        .cache_sync_timeout(Duration::from_secs(3))
        .complete(Counter::default())
        .unwrap();
    chain(&env.run(manager).ended().await.unwrap_err())
}

fn chain(error: &StartError) -> Vec<String> {
    let first: &dyn std::error::Error = error;
    std::iter::successors(Some(first), |error| error.source()).map(ToString::to_string).collect()
}

struct Named<F>(F);

impl<F, Fut> Source for Named<F>
where
    F: FnOnce(SourceContext) -> Fut + Send + 'static,
    Fut: Future<Output = Result<(), BoxError>> + Send,
{
    async fn start(self, context: SourceContext, _queue: Queue<Request>) -> Result<(), BoxError> {
        (self.0)(context).await
    }

    fn name(&self) -> std::borrow::Cow<'static, str> {
        "the source".into()
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_to_start_stops_the_manager() {
    let chain = start_error(Named(async |_| Err("no such bus".into()))).await;
    assert_eq!(chain, ["controller failing failed", "failed to start the source", "no such bus"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_start_or_in_sync_is_an_error_of_the_source() {
    let in_start = Named(async |_| -> Result<(), BoxError> { panic!("no such bus") });
    assert_eq!(start_error(in_start).await[1..], ["failed to start the source", "panicked: no such bus"]);
    let in_sync = Named(async |context: SourceContext| {
        context.sync_on(async { panic!("out of step") });
        Ok(())
    });
    let expected = ["failed to wait for the source to sync", "panicked: out of step"];
    assert_eq!(start_error(in_sync).await[1..], expected);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_blocks_in_start_is_named() {
    let chain = start_error(Named(async |_| std::future::pending().await)).await;
    assert_eq!(chain[1], "timed out waiting for the source to start within 3s: its start() must not block");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_to_sync_stops_the_manager() {
    let source = Named(async |context: SourceContext| {
        context.sync_on(async { Err("out of step".into()) });
        Ok(())
    });
    let chain = start_error(source).await;
    assert_eq!(chain[1..], ["failed to wait for the source to sync", "out of step"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_never_syncs_stops_the_manager() {
    let source = Named(async |context: SourceContext| {
        context.sync_on(std::future::pending());
        Ok(())
    });
    assert_eq!(
        start_error(source).await[1],
        "timed out waiting for the source to sync: no progress within 3s"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_source_that_panics_stops_the_manager() {
    let source = Named(async |context: SourceContext| {
        context.spawn(async { panic!("lost the connection") });
        Ok(())
    });
    assert_eq!(start_error(source).await[1], "a task of the controller panicked: lost the connection");
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_listed_is_an_error_with_the_api_servers_words() {
    let env = TestEnv::start().await;
    let forbidden = Status::new(http_status(403), "Forbidden", "configmaps is forbidden");
    env.server().faults().add(Fault::respond(forbidden).when(|it| it.follows("configmaps")).always());
    let manager = env.manager().build().await.unwrap();
    Controller::builder(&manager)
        .for_::<ConfigMap>()
        .cache_sync_timeout(Duration::from_secs(10))
        .complete(Counter::default())
        .unwrap();
    let chain = chain(&env.run(manager).ended().await.unwrap_err());
    assert_eq!(chain[1], "failed to wait for kind source: ConfigMap to sync");
    let (waited, answered) = (
        "failed to wait for the cache of ConfigMap to sync within 10s",
        "the API server answered 403 Forbidden: configmaps is forbidden",
    );
    assert_eq!(chain[2..], [waited, answered]);
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_is_stopped_while_its_controller_waits_for_sync_stops_without_an_error() {
    let env = TestEnv::start().await;
    env.server().faults().add(Fault::delay(Duration::from_secs(50)).when(|it| it.follows("configmaps")));
    let manager = env.manager().build().await.unwrap();
    Controller::builder(&manager).for_::<ConfigMap>().complete(Counter::default()).unwrap();
    let running = env.run(manager);
    sleep_until(Instant::now() + Duration::from_secs(1)).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_takes_its_time_is_waited_for() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    env.server().faults().add(Fault::delay(Duration::from_secs(50)).when(|it| it.follows("configmaps")));
    let manager = env.manager().build().await.unwrap();
    let counter = Counter::default();
    Controller::builder(&manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
    let running = env.run(manager);
    counter.wait_for(&key("a"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn watches_are_added_and_removed_while_the_controller_runs() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let counter = Counter::default();
    let controller = Controller::builder(&manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
    let cache = manager.cache().clone();
    let running = env.run(manager);
    env.create(&config_map("a", &[])).await;
    counter.wait_for(&key("a"), 1).await;

    env.create(&secret("before")).await;
    let mut watch =
        controller.watch(source::kind::<Secret, _>(&cache, handler::enqueue_request_for_object()));
    watch.synced().await.unwrap();
    counter.wait_for(&key("before"), 1).await;
    env.create(&secret("during")).await;
    counter.wait_for(&key("during"), 1).await;

    watch.stop();
    env.create(&secret("after")).await;
    // Whatever the stopped watch would have done is done before the next change of the other one is.
    sleep_until(Instant::now() + Duration::from_secs(1)).await;
    env.create(&config_map("b", &[])).await;
    counter.wait_for(&key("b"), 1).await;
    assert_eq!(counter.of(&key("after")), 0);
    running.stop().await.unwrap();
    assert_eq!(
        controller.watch(Named(async |_| Ok(()))).synced().await.unwrap_err().to_string(),
        "the controller has stopped"
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_added_before_the_start_is_one_of_the_controllers_own() {
    let env = TestEnv::start().await;
    env.create(&secret("a")).await;
    let manager = env.manager().build().await.unwrap();
    let counter = Counter::default();
    let controller = Controller::builder(&manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
    let mut early =
        controller.watch(source::kind::<Secret, _>(manager.cache(), handler::enqueue_request_for_object()));
    let running = env.run(manager);
    early.synced().await.unwrap();
    counter.wait_for(&key("a"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_late_watch_that_fails_tells_its_handle_and_the_controller_goes_on() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let counter = Counter::default();
    let controller = Controller::builder(&manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
    let running = env.run(manager);
    running.elected().await;
    env.create(&config_map("a", &[])).await;
    counter.wait_for(&key("a"), 1).await;
    let error = controller.watch(Named(async |_| Err("no".into()))).synced().await.unwrap_err();
    assert_eq!(error.to_string(), "failed to start the source");
    let panics = Named(async |_| -> Result<(), BoxError> { panic!("no such bus") });
    let error = controller.watch(panics).synced().await.unwrap_err();
    assert_eq!(error.to_string(), "failed to start the source");
    env.create(&config_map("b", &[])).await;
    counter.wait_for(&key("b"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_late_watch_that_fails_is_undone() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let counter = Counter::default();
    let builder = Controller::builder(&manager).for_::<ConfigMap>();
    let controller = builder.cache_sync_timeout(Duration::from_secs(60)).complete(counter.clone()).unwrap();
    let cache = manager.cache().clone();
    let running = env.run(manager);
    env.create(&config_map("a", &[])).await;
    counter.wait_for(&key("a"), 1).await;

    let outage =
        env.server().faults().add(Fault::respond(unavailable()).when(|it| it.follows("secrets")).always());
    let calls = Counter::default();
    let watch = || {
        let calls = calls.clone();
        controller.watch(source::kind::<Secret, _>(
            &cache,
            move |event: &Event<Secret>, _: &Requests<'_, Request>| calls.count(event.object().key()),
        ))
    };
    for _ in 0..3 {
        watch().synced().await.unwrap_err();
    }
    outage.remove();
    let mut works = watch();
    works.synced().await.unwrap();
    env.create(&secret("b")).await;
    calls.wait_for(&key("b"), 1).await;
    sleep_until(Instant::now() + Duration::from_secs(60)).await;
    assert_eq!(calls.of(&key("b")), 1);
    works.stop();
    env.create(&secret("c")).await;
    sleep_until(Instant::now() + Duration::from_secs(60)).await;
    assert_eq!(calls.of(&key("c")), 0);
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_of_a_late_watch_that_failed_runs_when_its_handle_hears_of_it() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let counter = Counter::default();
    let controller = Controller::builder(&manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
    let running = env.run(manager);
    env.create(&config_map("a", &[])).await;
    counter.wait_for(&key("a"), 1).await;
    let ended = Arc::new(AtomicBool::new(false));
    let slow_to_stop = {
        let ended = Arc::clone(&ended);
        Named(async move |context: SourceContext| {
            let (is_at_work, at_work) = oneshot::channel();
            let cancellation = context.cancellation().clone();
            // Its thread is busy, also a while after it was told to stop.
            let busy = move || {
                is_at_work.send(()).unwrap();
                while !cancellation.is_cancelled() {
                    std::thread::yield_now();
                }
                (0..10_000).for_each(|_| std::thread::yield_now());
                ended.store(true, Ordering::SeqCst);
            };
            context.spawn(async { tokio::task::block_in_place(busy) });
            context.sync_on(async {
                at_work.await?;
                Err("out of step".into())
            });
            Ok(())
        })
    };
    let error = controller.watch(slow_to_stop).synced().await.unwrap_err();
    assert_eq!(error.to_string(), "failed to wait for the source to sync");
    assert!(ended.load(Ordering::SeqCst));
    running.stop().await.unwrap();
}

fn unavailable() -> Status {
    Status::new(http_status(503), "ServiceUnavailable", "come back later")
}

fn http_status(code: u16) -> http::StatusCode {
    http::StatusCode::from_u16(code).unwrap()
}

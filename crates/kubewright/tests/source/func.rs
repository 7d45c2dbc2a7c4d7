//! Functions, and what the controller does with a source.

use std::time::Duration;

use kubewright::{prelude::*, source::SourceContext};
use kubewright_testing::TestEnv;
use tokio::{sync::oneshot, time::Instant};

use crate::{
    chain,
    common::{Counter, key},
    control,
};

#[tokio::test(start_paused = true)]
async fn the_function_is_called_with_the_queue_of_its_controller() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let counter = control(
        &manager,
        source::func(|_context, queue: Queue<Request>| async move {
            queue.add(key("from-the-function"));
            Ok(())
        }),
    );
    let running = env.run(manager);
    counter.wait_for(&key("from-the-function"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_task_of_the_source_ends_with_its_controller() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (alive, mut dropped) = oneshot::channel::<()>();
    let counter = control(
        &manager,
        source::func(|context: SourceContext, queue: Queue<Request>| async move {
            let runs = context.clone();
            context.spawn(async move {
                let _alive = alive;
                assert!(!runs.cancellation().is_cancelled());
                queue.add(key("from-the-task"));
                std::future::pending::<()>().await;
            });
            Ok(())
        }),
    );
    let running = env.run(manager);
    counter.wait_for(&key("from-the-task"), 1).await;
    assert!(dropped.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Empty));
    running.stop().await.unwrap();
    assert!(dropped.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed));
}

/// A controller with this source stops by itself, after this time, and says so.
async fn check_stops(source: impl Source, after: Duration, error: &str) {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    Controller::builder(&manager)
        .named("test")
        .watches_raw_source(source)
        .cache_sync_timeout(LIMIT)
        .complete(Counter::default())
        .unwrap();
    let start = Instant::now();
    let ended = chain(&env.run(manager).ended().await.unwrap_err());
    assert_eq!(start.elapsed().as_secs(), after.as_secs());
    assert!(ended.contains(error), "{ended}");
}

const LIMIT: Duration = Duration::from_secs(5);

#[tokio::test(start_paused = true)]
async fn the_error_of_a_start_is_returned() {
    let fails = source::func(|_, _: Queue<Request>| async { Err("no bus".into()) });
    let name = Source::<Request>::name(&fails).into_owned();
    assert!(name.starts_with("func source: "), "{name}");
    check_stops(fails, Duration::ZERO, &format!("failed to start {name}: no bus")).await;
}

#[tokio::test(start_paused = true)]
async fn a_start_that_blocks_is_given_up_after_the_timeout() {
    let blocks = source::func(|_, _: Queue<Request>| std::future::pending());
    check_stops(blocks, LIMIT, "its start() must not block").await;
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_sync_is_returned() {
    let fails = source::func(|context: SourceContext, _: Queue<Request>| async move {
        context.sync_on(async { Err("no snapshot".into()) });
        Ok(())
    });
    check_stops(fails, Duration::ZERO, "to sync: no snapshot").await;
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_does_not_end_is_given_up_after_the_timeout() {
    struct Endless;
    impl Source for Endless {
        async fn start(self, context: SourceContext, _: Queue<Request>) -> Result<(), BoxError> {
            assert_eq!(context.sync_timeout(), LIMIT);
            context.sync_on(std::future::pending());
            Ok(())
        }

        fn name(&self) -> std::borrow::Cow<'static, str> {
            "endless source".into()
        }
    }
    // One second more than the source was promised.
    let limit = LIMIT + Duration::from_secs(1);
    check_stops(Endless, limit, "timed out waiting for endless source to sync: no progress within 5s").await;
}

#[tokio::test(start_paused = true)]
async fn no_reconcile_begins_before_every_source_has_synced() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (synced, sync) = oneshot::channel::<()>();
    let (started, start) = oneshot::channel::<()>();
    let counter = Counter::default();
    Controller::builder(&manager)
        .named("test")
        .watches_raw_source(source::func(|_, queue: Queue<Request>| async move {
            queue.add(key("early"));
            Ok(())
        }))
        .watches_raw_source(source::func(|context: SourceContext, _: Queue<Request>| async move {
            context.sync_on(async move {
                started.send(()).map_err(|()| "the test is gone")?;
                Ok(sync.await?)
            });
            Ok(())
        }))
        .complete(counter.clone())
        .unwrap();
    let running = env.run(manager);
    start.await.unwrap();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(counter.of(&key("early")), 0);
    synced.send(()).unwrap();
    counter.wait_for(&key("early"), 1).await;
    running.stop().await.unwrap();
}

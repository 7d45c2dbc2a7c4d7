//! Timers; upstream has none.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::prelude::*;
use kubewright_testing::TestEnv;
use tokio::time::Instant;

use crate::{
    chain,
    common::{Counter, config_map, key},
    control,
};

const PERIOD: Duration = Duration::from_secs(1800);

/// Gives one request each round, but fails in the second one.
fn rounds() -> impl FnMut() -> std::future::Ready<Result<Vec<Request>, BoxError>> + Send + 'static {
    let round = Arc::new(AtomicUsize::new(0));
    move || {
        std::future::ready(match round.fetch_add(1, Ordering::SeqCst) {
            1 => Err("not this time".into()),
            _ => Ok(vec![key("periodic")]),
        })
    }
}

/// When the requests come, in periods after the start.
async fn check_rounds(source: impl Source, wanted: [u64; 3]) {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let counter = control(&manager, source);
    let start = Instant::now();
    let running = env.run(manager);
    for (count, periods) in wanted.into_iter().enumerate() {
        // Waits of the counter end after a minute; these take longer.
        while counter.of(&key("periodic")) <= count {
            tokio::time::advance(Duration::from_secs(1)).await;
            assert!(start.elapsed() <= PERIOD * 6, "waited in vain for round {count}");
        }
        assert_eq!(start.elapsed().as_secs() / PERIOD.as_secs(), periods, "round {count}");
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_first_round_comes_after_one_period_and_an_error_costs_a_second() {
    check_rounds(source::interval(PERIOD, rounds()), [1, 2, 3]).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_round_comes_at_once_if_that_was_asked_for() {
    check_rounds(source::interval(PERIOD, rounds()).immediate_first_tick(), [0, 1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn a_period_of_zero_is_refused() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let _counter: Counter = control(&manager, source::interval(Duration::ZERO, rounds()));
    let error = chain(&env.run(manager).ended().await.unwrap_err());
    assert!(error.contains("failed to start interval source: every 0ns"), "{error}");
    assert!(error.contains("the period of an interval source is zero"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn jitter_makes_periods_longer_by_its_part_at_most() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (times, mut rounds) = tokio::sync::mpsc::unbounded_channel();
    let note = move || {
        times.send(Instant::now()).unwrap();
        std::future::ready(Ok::<_, BoxError>(None::<Request>))
    };
    control(&manager, source::interval(PERIOD, note).jitter(0.5));
    let mut last = Instant::now();
    let running = env.run(manager);
    let mut periods = Vec::new();
    for _ in 0..50 {
        let round = rounds.recv().await.unwrap();
        periods.push(round - last);
        last = round;
    }
    running.stop().await.unwrap();
    assert!(periods.iter().all(|period| (PERIOD..=PERIOD * 3 / 2).contains(period)), "{periods:?}");
    assert!(periods.iter().max().unwrap() > periods.iter().min().unwrap(), "{periods:?}");
}

#[tokio::test(start_paused = true)]
async fn a_change_overtakes_ten_thousand_keys_that_are_due_again() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let counter = Counter::default();
    let (runs, all) =
        (counter.clone(), (0..10_000).map(|number| key(&number.to_string())).collect::<Vec<_>>());
    let reconciler = kubewright::reconcile::from_fn(move |_: Context, request: Request| {
        runs.count(&key("any"));
        runs.count(&request);
        async {
            tokio::time::sleep_until(Instant::now() + Duration::from_secs(1)).await;
            Ok::<_, BoxError>(Action::await_change())
        }
    });
    let round = move || std::future::ready(Ok::<_, BoxError>(all.clone()));
    Controller::builder(&manager)
        .for_::<ConfigMap>()
        .watches_raw_source(source::interval(PERIOD, round).immediate_first_tick())
        .complete(reconciler)
        .unwrap();
    let running = env.run(manager);
    counter.wait_for(&key("any"), 3).await;
    env.create(&config_map("urgent", &[])).await;
    counter.wait_for(&key("urgent"), 1).await;
    assert!(counter.of(&key("any")) <= 5, "{} came before it", counter.of(&key("any")));
    running.stop().await.unwrap();
}

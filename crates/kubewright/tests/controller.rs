//! The life of a controller, row by row of controller-runtime's own suites (`pkg/internal/controller`, `pkg/controller`).
//!
//! Rows without a test here:
//! - "ctx cancel during `WaitForSync`", "blocking Start times out": in `controller_start.rs`.
//! - "goroutine leak": a controller owns its tasks in a `JoinSet` and joins it; `stopping_ends_every_task` holds it to that.
//! - "no races when concurrent with itself", "only once when concurrent": `start` takes the controller by value.
//! - "startWatches reset": the sources are moved into their tasks.
//! - "rate limiter and queue default", "priority queue by default": there is one queue; `tests/workqueue*` hold it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{sync::Arc, time::Duration};

use common::{Counter, Journal, config_map, key};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    controller::{Controller, ControllerOptions},
    kube::api::Patch,
    prelude::*,
    reconcile::{ObjectReconciler, PrioritizedError, TerminalError, as_reconciler},
    workqueue::AddOptions,
};
use kubewright_testing::{RunningManager, TestEnv};
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::{Instant, sleep_until, timeout};

/// What a scripted reconciler does in one run.
#[derive(Clone)]
enum Step {
    Done,
    Requeue(Duration),
    RequeueWith(Duration, i32),
    Fail,
    FailWith(i32),
    FailForGood,
    Panic,
    Take(Duration),
}

/// Runs its steps in order, then is done for ever; notes when each run began.
#[derive(Clone)]
struct Scripted {
    steps: Arc<Mutex<Vec<Step>>>,
    start: Instant,
    journal: Journal,
    runs: Counter,
}

impl Scripted {
    fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let mut steps: Vec<_> = steps.into_iter().collect();
        steps.reverse();
        Self {
            steps: Arc::new(Mutex::new(steps)),
            start: Instant::now(),
            journal: Journal::default(),
            runs: Counter::default(),
        }
    }

    /// Milliseconds from the first run to each of the others.
    fn times(&self) -> Vec<u64> {
        let times: Vec<u64> = self.journal.lines().iter().map(|line| line.parse().unwrap()).collect();
        times.iter().map(|time| time - times[0]).collect()
    }
}

impl Reconciler for Scripted {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        self.journal.write(self.start.elapsed().as_millis().to_string());
        self.runs.count(&request);
        let step = self.steps.lock().pop().unwrap_or(Step::Done);
        match step {
            Step::Done => Ok(Action::await_change()),
            Step::Requeue(after) => Ok(Action::requeue(after)),
            Step::RequeueWith(after, priority) => Ok(Action::requeue(after).with_priority(priority)),
            Step::Fail => Err("no".into()),
            Step::FailWith(priority) => Err(PrioritizedError::new("no", priority).into()),
            Step::FailForGood => Err(TerminalError::new("never").into()),
            Step::Panic => panic!("as scripted"),
            Step::Take(time) => {
                sleep_until(Instant::now() + time).await;
                Ok(Action::await_change())
            }
        }
    }
}

/// A controller without watches: its queue is in the test's hands.
async fn by_hand(
    env: &TestEnv,
    reconciler: impl Reconciler,
    configure: impl FnOnce(kubewright::controller::Builder) -> kubewright::controller::Builder,
) -> (RunningManager, Queue<Request>) {
    let manager = env.manager().build().await.unwrap();
    let (queues, queue) = tokio::sync::oneshot::channel();
    let capture = source::func(move |_context, queue: Queue<Request>| async move {
        queues.send(queue).map_err(|_| "the test is gone".into())
    });
    let name = format!("by-hand-{:p}", &raw const queue);
    configure(Controller::builder(&manager).named(name).watches_raw_source(capture))
        .complete(reconciler)
        .unwrap();
    let running = env.run(manager);
    (running, queue.await.unwrap())
}

/// Runs the script for one request and gives the times of its runs.
async fn times(steps: impl IntoIterator<Item = Step>, runs: usize) -> Vec<u64> {
    let env = TestEnv::start().await;
    let reconciler = Scripted::new(steps);
    let (running, queue) = by_hand(&env, reconciler.clone(), |builder| builder).await;
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), runs).await;
    // Whatever else was going to run has run by then.
    sleep_until(Instant::now() + Duration::from_secs(3600)).await;
    running.stop().await.unwrap();
    reconciler.times()
}

#[tokio::test(start_paused = true)]
async fn an_enqueued_request_is_reconciled_once() {
    assert_eq!(times([Step::Done], 1).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn an_error_is_retried_with_backoff_until_it_succeeds() {
    let (fail, done) = (Step::Fail, Step::Done);
    assert_eq!(times([fail.clone(), fail.clone(), fail.clone(), fail, done], 5).await, [0, 5, 15, 35, 75]);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_is_not_requeued() {
    assert_eq!(times([Step::FailForGood, Step::Done], 1).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_does_not_reset_the_backoff() {
    let env = TestEnv::start().await;
    let reconciler = Scripted::new([Step::Fail, Step::FailForGood, Step::Fail]);
    let (running, queue) = by_hand(&env, reconciler.clone(), |builder| builder).await;
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 2).await;
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 4).await;
    let times = reconciler.times();
    assert_eq!(times[3] - times[2], 10, "the second failure waits twice as long: {times:?}");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn requeue_after_is_not_rate_limited_and_forgets_earlier_failures() {
    let later = Step::Requeue(Duration::from_secs(30));
    assert_eq!(
        times([Step::Fail, Step::Fail, later, Step::Fail, Step::Done], 5).await,
        [0, 5, 15, 30_015, 30_020]
    );
}

#[tokio::test(start_paused = true)]
async fn success_forgets_earlier_failures() {
    let env = TestEnv::start().await;
    let reconciler = Scripted::new([Step::Fail, Step::Fail, Step::Done, Step::Fail]);
    let (running, queue) = by_hand(&env, reconciler.clone(), |builder| builder).await;
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 3).await;
    assert_eq!(queue.num_requeues(&key("a")), 0);
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 5).await;
    let times = reconciler.times();
    assert_eq!(times[4] - times[3], 5);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_recovered_and_retried_like_an_error() {
    assert_eq!(times([Step::Panic, Step::Panic, Step::Done], 3).await, [0, 5, 15]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_stops_the_manager_if_it_is_not_to_be_recovered() {
    let env = TestEnv::start().await;
    let (running, queue) =
        by_hand(&env, Scripted::new([Step::Panic]), |builder| builder.recover_panic(false)).await;
    queue.add(key("a"));
    let error = running.ended().await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "a task of the controller panicked: as scripted");
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_takes_too_long_is_dropped_and_retried() {
    let env = TestEnv::start().await;
    let reconciler = Scripted::new([Step::Take(Duration::from_secs(60)), Step::Take(Duration::from_secs(1))]);
    let limit = Duration::from_secs(2);
    let (running, queue) =
        by_hand(&env, reconciler.clone(), |builder| builder.reconciliation_timeout(limit)).await;
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 2).await;
    sleep_until(Instant::now() + Duration::from_secs(3600)).await;
    assert_eq!(reconciler.times(), [0, 2005]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_a_reconciliation_timeout_a_reconcile_takes_as_long_as_it_likes() {
    assert_eq!(times([Step::Take(Duration::from_secs(3000))], 1).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_in_the_context() {
    struct Deadline(tokio::sync::watch::Sender<Option<Duration>>);
    impl Reconciler for Deadline {
        type Error = BoxError;
        async fn reconcile(&self, context: Context, _request: Request) -> Result<Action, BoxError> {
            self.0.send_replace(context.deadline().map(|deadline| deadline - Instant::now()));
            Ok(Action::await_change())
        }
    }
    let env = TestEnv::start().await;
    let (sender, mut deadline) = tokio::sync::watch::channel(None);
    let limit = Duration::from_secs(7);
    let (running, queue) =
        by_hand(&env, Deadline(sender), |builder| builder.reconciliation_timeout(limit)).await;
    queue.add(key("a"));
    deadline.changed().await.unwrap();
    assert_eq!(*deadline.borrow(), Some(limit));
    running.stop().await.unwrap();
}

/// The order in which requests run, one after the other.
async fn order(steps: Vec<Step>, fill: impl FnOnce(&Queue<Request>), runs: usize) -> Vec<String> {
    #[derive(Clone)]
    struct Order(Journal, Scripted);
    impl Reconciler for Order {
        type Error = BoxError;
        async fn reconcile(&self, context: Context, request: Request) -> Result<Action, BoxError> {
            self.0.write(request.name());
            Reconciler::reconcile(&self.1, context, request).await
        }
    }
    let env = TestEnv::start().await;
    let reconciler = Order(Journal::default(), Scripted::new(steps));
    let (running, queue) = by_hand(&env, reconciler.clone(), |builder| builder).await;
    fill(&queue);
    timeout(Duration::from_secs(60), async {
        while reconciler.0.lines().len() < runs {
            sleep_until(Instant::now() + Duration::from_millis(1)).await;
        }
    })
    .await
    .unwrap();
    running.stop().await.unwrap();
    reconciler.0.lines()
}

fn with_priority(queue: &Queue<Request>, name: &str, priority: i32) {
    queue.add_with(AddOptions::new().priority(priority), [key(name)]);
}

#[tokio::test(start_paused = true)]
async fn the_highest_priority_runs_first() {
    let order = order(
        vec![],
        |queue| {
            with_priority(queue, "low", -100);
            with_priority(queue, "high", 10);
            with_priority(queue, "middle", 0);
        },
        3,
    );
    assert_eq!(order.await, ["high", "middle", "low"]);
}

#[tokio::test(start_paused = true)]
async fn a_requeued_request_keeps_its_priority() {
    // Both come back at the same time; "low" was first in the queue then, too.
    let again = Step::Requeue(Duration::from_secs(1));
    let order = order(
        vec![again.clone(), again],
        |queue| {
            with_priority(queue, "low", -100);
            with_priority(queue, "high", 10);
        },
        4,
    );
    assert_eq!(order.await, ["high", "low", "high", "low"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_request_keeps_its_priority() {
    let order = order(
        vec![Step::Fail, Step::Fail],
        |queue| {
            with_priority(queue, "low", -100);
            with_priority(queue, "high", 10);
        },
        4,
    );
    assert_eq!(order.await, ["high", "low", "high", "low"]);
}

#[tokio::test(start_paused = true)]
async fn the_priority_of_the_action_overrides_that_of_the_request() {
    let second = Duration::from_secs(1);
    let order = order(
        vec![Step::RequeueWith(second, -5), Step::RequeueWith(second, 50)],
        |queue| {
            with_priority(queue, "low", -100);
            with_priority(queue, "high", 10);
        },
        4,
    );
    assert_eq!(order.await, ["high", "low", "low", "high"]);
}

#[tokio::test(start_paused = true)]
async fn the_priority_of_an_error_overrides_that_of_the_request() {
    let order = order(
        vec![Step::FailWith(-5), Step::FailWith(50)],
        |queue| {
            with_priority(queue, "low", -100);
            with_priority(queue, "high", 10);
        },
        4,
    );
    assert_eq!(order.await, ["high", "low", "low", "high"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_reconciled_before_every_handler_has_seen_the_initial_objects() {
    /// Notes how much of the initial list the cache and the queue had at the first run.
    struct First(Client, tokio::sync::watch::Sender<Option<usize>>);
    impl Reconciler for First {
        type Error = BoxError;
        async fn reconcile(&self, _context: Context, _request: Request) -> Result<Action, BoxError> {
            let seen = self.0.list::<ConfigMap>().await?.len();
            self.1.send_if_modified(|first| first.replace(first.unwrap_or(seen)).is_none());
            Ok(Action::await_change())
        }
    }
    let env = TestEnv::start().await;
    for number in 0..50 {
        env.create(&config_map(&format!("config-{number}"), &[])).await;
    }
    let manager = env.manager().build().await.unwrap();
    let (sender, mut first) = tokio::sync::watch::channel(None);
    let handled = Arc::new(Mutex::new(0));
    let slow = {
        let handled = Arc::clone(&handled);
        kubewright::handler::enqueue_mapped_async(move |config: Arc<ConfigMap>| {
            let handled = Arc::clone(&handled);
            async move {
                tokio::task::yield_now().await;
                *handled.lock() += 1;
                Some(Request::of(&*config))
            }
        })
    };
    Controller::builder(&manager)
        .named("first")
        .watches::<ConfigMap>(slow)
        .complete(First(manager.client(), sender))
        .unwrap();
    let running = env.run(manager);
    first.changed().await.unwrap();
    assert_eq!((*first.borrow(), *handled.lock()), (Some(50), 50));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn creations_updates_and_deletions_are_reconciled() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (counter, client) = (Counter::default(), manager.client());
    Controller::builder(&manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
    let running = env.run(manager);
    env.create(&config_map("a", &[])).await;
    counter.wait_for(&key("a"), 1).await;
    client.patch::<ConfigMap, _>(&key("a"), &Patch::Merge(json!({ "data": { "x": "y" } }))).await.unwrap();
    counter.wait_for(&key("a"), 2).await;
    env.delete::<ConfigMap>(&key("a")).await;
    counter.wait_for(&key("a"), 3).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_object_reconciler_gets_the_object_and_is_not_called_for_one_that_is_gone() {
    #[derive(Clone, Default)]
    struct Objects(Journal, Counter);
    impl ObjectReconciler<ConfigMap> for Objects {
        type Error = BoxError;
        async fn reconcile(&self, _context: Context, object: Arc<ConfigMap>) -> Result<Action, BoxError> {
            self.0.write(format!("{:?}", object.data.as_ref().unwrap()));
            self.1.count(&Request::of(&*object));
            Ok(Action::await_change())
        }
    }
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[("x", "y")])).await;
    let manager = env.manager().build().await.unwrap();
    let objects = Objects::default();
    let reconciler = as_reconciler::<ConfigMap, _>(manager.client(), objects.clone());
    Controller::builder(&manager).named("objects").for_::<ConfigMap>().complete(reconciler).unwrap();
    let running = env.run(manager);
    objects.1.wait_for(&key("a"), 1).await;
    env.delete::<ConfigMap>(&key("a")).await;
    env.create(&config_map("b", &[("z", "z")])).await;
    objects.1.wait_for(&key("b"), 1).await;
    running.stop().await.unwrap();
    assert_eq!(objects.0.lines(), [r#"{"x": "y"}"#, r#"{"z": "z"}"#]);
}

#[tokio::test(start_paused = true)]
async fn every_reconcile_has_an_id_of_its_own() {
    #[derive(Clone, Default)]
    struct Ids(Journal, Counter);
    impl Reconciler for Ids {
        type Error = BoxError;
        async fn reconcile(&self, context: Context, request: Request) -> Result<Action, BoxError> {
            self.0.write(context.reconcile_id().to_string());
            self.1.count(&request);
            Ok(Action::await_change())
        }
    }
    let env = TestEnv::start().await;
    let ids = Ids::default();
    let (running, queue) = by_hand(&env, ids.clone(), |builder| builder).await;
    for run in 1..=3 {
        queue.add(key("a"));
        ids.1.wait_for(&key("a"), run).await;
    }
    running.stop().await.unwrap();
    let lines = ids.0.lines();
    assert!(lines[0] != lines[1] && lines[1] != lines[2] && lines[0].len() == 36, "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn as_many_requests_run_at_once_as_the_options_say() {
    #[derive(Clone, Default)]
    struct Crowd {
        inside: Arc<Mutex<(usize, usize)>>,
        runs: Counter,
    }
    impl Reconciler for Crowd {
        type Error = BoxError;
        async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
            {
                let mut inside = self.inside.lock();
                inside.0 += 1;
                inside.1 = inside.1.max(inside.0);
            }
            sleep_until(Instant::now() + Duration::from_secs(1)).await;
            self.inside.lock().0 -= 1;
            self.runs.count(&request);
            Ok(Action::await_change())
        }
    }
    for (workers, most) in [(1, 1), (3, 3), (0, 1)] {
        let env = TestEnv::start().await;
        let crowd = Crowd::default();
        let configure = |builder: kubewright::controller::Builder| builder.max_concurrent_reconciles(workers);
        let (running, queue) = by_hand(&env, crowd.clone(), configure).await;
        for number in 0..6 {
            queue.add(key(&number.to_string()));
        }
        for number in 0..6 {
            crowd.runs.wait_for(&key(&number.to_string()), 1).await;
        }
        running.stop().await.unwrap();
        assert_eq!(crowd.inside.lock().1, most);
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_every_task_and_lets_a_reconcile_finish() {
    let env = TestEnv::start().await;
    let reconciler = Scripted::new([Step::Take(Duration::from_secs(10)), Step::Fail]);
    let (running, queue) = by_hand(&env, reconciler.clone(), |builder| builder).await;
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 1).await;
    let before = Instant::now();
    running.stop().await.unwrap();
    assert_eq!(before.elapsed().as_secs(), 10, "the reconcile was allowed to finish");
    assert!(queue.is_shut_down());
    // The script is shared by the workers: they are gone.
    assert_eq!(Arc::strong_count(&reconciler.steps), 1);
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_outlasts_the_grace_period_is_dropped() {
    let env = TestEnv::start().await;
    let reconciler = Scripted::new([Step::Take(Duration::from_secs(1000))]);
    let (running, queue) = by_hand(&env, reconciler.clone(), |builder| builder).await;
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 1).await;
    let before = Instant::now();
    let error = running.stop().await.unwrap_err();
    assert!(
        error.to_string().starts_with(
            "failed waiting for all runnables to end within grace period of 30s: late were controller by-hand-"
        ),
        "{error}"
    );
    assert_eq!(before.elapsed().as_secs(), 30);
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&reconciler.steps), 1);
}

#[tokio::test(start_paused = true)]
async fn every_result_is_counted() {
    fn value(name: &str, controller: &str, result: Option<&str>) -> String {
        let families = kubewright::metrics::registry().gather();
        let family =
            families.iter().find(|family| family.name() == name).unwrap_or_else(|| panic!("no {name}"));
        let metric = family.get_metric().iter().find(|metric| {
            let label =
                |wanted: &str| metric.get_label().iter().find(|it| it.name() == wanted).map(|it| it.value());
            label("controller") == Some(controller) && (result.is_none() || label("result") == result)
        });
        let metric = metric.unwrap_or_else(|| panic!("no {name} of {controller} with {result:?}"));
        #[expect(clippy::cast_precision_loss, reason = "the test takes no 2⁵² samples")]
        let samples = metric.get_histogram().get_sample_count() as f64;
        (metric.get_counter().get_value() + samples + metric.get_gauge().get_value()).to_string()
    }
    let env = TestEnv::start().await;
    let second = Duration::from_secs(1);
    let slow = Step::Take(Duration::from_secs(60));
    let reconciler =
        Scripted::new([Step::Fail, Step::Panic, slow, Step::Requeue(second), Step::FailForGood, Step::Done]);
    let configure = |builder: kubewright::controller::Builder| {
        builder.named("counted").reconciliation_timeout(Duration::from_secs(5)).max_concurrent_reconciles(2)
    };
    let (running, queue) = by_hand(&env, reconciler.clone(), configure).await;
    assert_eq!(value("controller_runtime_max_concurrent_reconciles", "counted", None), "2");
    assert_eq!(value("controller_runtime_reconcile_total", "counted", Some("requeue")), "0");
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 5).await;
    queue.add(key("a"));
    reconciler.runs.wait_for(&key("a"), 6).await;
    running.stop().await.unwrap();
    let total = |result| value("controller_runtime_reconcile_total", "counted", Some(result));
    assert_eq!([total("success"), total("error"), total("requeue_after")], ["1", "4", "1"]);
    assert_eq!(value("controller_runtime_reconcile_errors_total", "counted", None), "4");
    assert_eq!(value("controller_runtime_terminal_reconcile_errors_total", "counted", None), "1");
    assert_eq!(value("controller_runtime_reconcile_panics_total", "counted", None), "1");
    assert_eq!(value("controller_runtime_reconcile_timeouts_total", "counted", None), "1");
    assert_eq!(value("controller_runtime_reconcile_time_seconds", "counted", None), "6");
    assert_eq!(value("controller_runtime_active_workers", "counted", None), "0");
}

#[test]
fn the_defaults_are_upstreams() {
    let options = ControllerOptions::default();
    assert_eq!(options.max_concurrent_reconciles.get(), 1);
    assert_eq!(options.cache_sync_timeout, Duration::from_secs(120));
    assert_eq!(options.reconciliation_timeout, None);
    assert!(options.recover_panic && options.needs_leader_election && !options.enable_warmup);
}

/// Writes something else at every run, so that its own write wakes it.
struct Restless {
    client: Client,
    runs: Counter,
}

impl Reconciler for Restless {
    type Error = BoxError;

    async fn reconcile(&self, _: Context, request: Request) -> Result<Action, BoxError> {
        self.runs.count(&request);
        // As long as an API server takes at least.
        tokio::time::sleep_until(Instant::now() + Duration::from_millis(10)).await;
        if request.name() == "restless" {
            let run = Patch::Merge(json!({ "data": { "run": self.runs.of(&request).to_string() } }));
            self.client.patch::<ConfigMap, _>(&request, &run).await?;
        }
        Ok(Action::await_change())
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_wakes_itself_is_slowed_down_and_no_other() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let runs = Counter::default();
    let restless = Restless { client: manager.client(), runs: runs.clone() };
    Controller::builder(&manager).for_::<ConfigMap>().complete(restless).unwrap();
    let running = env.run(manager);
    env.create(&config_map("restless", &[])).await;
    let mut after_minutes = Vec::new();
    for _ in 0..60 {
        sleep_until(Instant::now() + Duration::from_secs(60)).await;
        after_minutes.push(runs.of(&key("restless")));
    }
    assert!((50..400).contains(&after_minutes[0]), "{after_minutes:?}");
    assert!(after_minutes[59] - after_minutes[58] <= 3, "{after_minutes:?}");
    assert!(after_minutes[59] > after_minutes[57], "it still runs: {after_minutes:?}");

    let before = Instant::now();
    env.create(&config_map("calm", &[])).await;
    runs.wait_for(&key("calm"), 1).await;
    assert!(before.elapsed() < Duration::from_secs(1));
    running.stop().await.unwrap();
}

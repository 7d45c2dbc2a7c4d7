//! From the first list to the last task.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    controller::Builder,
    kube::api::Patch,
    prelude::*,
    reconcile::{ObjectReconciler, as_reconciler},
};
use kubewright_testing::TestEnv;
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::{
    common::{Counter, Journal, config_map, key},
    scripted::{Scripted, Step, by_hand},
};

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
        let configure = |builder: Builder| builder.max_concurrent_reconciles(workers);
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

//! Which request runs first, and which priority it comes back with.

use std::time::Duration;

use kubewright::{prelude::*, workqueue::AddOptions};
use kubewright_testing::TestEnv;
use tokio::time::{Instant, sleep_until, timeout};

use crate::{
    common::{Journal, key},
    scripted::{Scripted, Step, by_hand},
};

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

//! What becomes of a request, by how its reconcile ended.

use std::time::Duration;

use kubewright::prelude::*;
use kubewright_testing::TestEnv;
use tokio::time::{Instant, sleep_until};

use crate::{
    common::key,
    scripted::{Scripted, Step, by_hand},
};

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

//! Requests that their own writes wake again.

use std::time::Duration;

use k8s_openapi::api::core::v1::Service;
use kubewright::{kube::api::Patch, prelude::*};
use kubewright_testing::TestEnv;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::common::{Counter, key, logs::Lines};

/// Writes at every run what its object's name says.
struct Writer {
    client: Client,
    runs: Counter,
}

impl Reconciler for Writer {
    type Error = BoxError;

    async fn reconcile(&self, _: Context, request: Request) -> Result<Action, BoxError> {
        self.runs.count(&request);
        // As long as an API server takes at least.
        sleep_until(Instant::now() + Duration::from_millis(10)).await;
        let run = json!({ "labels": { "run": self.runs.of(&request).to_string() } });
        let patch = match request.name() {
            "kept" => json!({ "metadata": run }),
            // The API server puts its default back.
            "in-vain" => json!({ "metadata": run, "spec": { "sessionAffinity": null } }),
            _ => return Ok(Action::await_change()),
        };
        self.client.patch::<Service, _>(&request, &Patch::Merge(patch)).await?;
        Ok(Action::await_change())
    }
}

fn service(name: &str) -> Service {
    let metadata = json!({ "namespace": "default", "name": name });
    serde_json::from_value(json!({ "metadata": metadata, "spec": { "ports": [{ "port": 80 }] } })).unwrap()
}

/// An environment with a service of this name, a controller that reconciles it, and how often it did.
async fn running(name: &str) -> (TestEnv, kubewright_testing::RunningManager, Counter) {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let runs = Counter::default();
    let writer = Writer { client: manager.client(), runs: runs.clone() };
    Controller::builder(&manager).for_::<Service>().complete(writer).unwrap();
    let running = env.run(manager);
    env.create(&service(name)).await;
    (env, running, runs)
}

async fn runs_after_each_minute(runs: &Counter, name: &str, minutes: usize) -> Vec<usize> {
    let mut after_minutes = Vec::new();
    for _ in 0..minutes {
        sleep_until(Instant::now() + Duration::from_secs(60)).await;
        after_minutes.push(runs.of(&key(name)));
    }
    after_minutes
}

#[tokio::test(start_paused = true)]
async fn a_request_that_its_writes_in_vain_wake_is_slowed_down_and_no_other() {
    let (env, running, runs) = running("in-vain").await;
    let after_minutes = runs_after_each_minute(&runs, "in-vain", 60).await;
    assert!((50..400).contains(&after_minutes[0]), "{after_minutes:?}");
    assert!(after_minutes[59] - after_minutes[58] <= 3, "{after_minutes:?}");
    assert!(after_minutes[59] > after_minutes[57], "it still runs: {after_minutes:?}");

    let before = Instant::now();
    env.create(&service("calm")).await;
    runs.wait_for(&key("calm"), 1).await;
    assert!(before.elapsed() < Duration::from_secs(1));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_writes_are_kept_runs_at_each_event() {
    let (_env, running, runs) = running("kept").await;
    let after_minutes = runs_after_each_minute(&runs, "kept", 2).await;
    let (first, second) = (after_minutes[0], after_minutes[1] - after_minutes[0]);
    assert!(first > 1_000 && second > first * 9 / 10, "{after_minutes:?}");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_field_that_the_answer_lacks_is_logged_once_and_with_the_loop_that_it_causes() {
    let lines = Lines::capture();
    let (_env, running, runs) = running("in-vain").await;
    runs.wait_for(&key("in-vain"), 101).await;
    running.stop().await.unwrap();
    let field = "field=\"spec.sessionAffinity\"";
    let named = lines.with(&["the API server did not keep what was sent", "object=default/in-vain", field]);
    assert_eq!(named.len(), 1, "{lines:?}");
    assert_eq!(
        lines.with(&["a hot loop, which is slowed down", "reconciles=50", field]).len(),
        1,
        "{lines:?}"
    );
    assert_eq!(
        lines.with(&["a hot loop, which is slowed down", "reconciles=100", field]).len(),
        1,
        "{lines:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_loop_whose_writes_are_kept_is_asked_whether_it_wakes_itself() {
    let lines = Lines::capture();
    let (_env, running, runs) = running("kept").await;
    runs.wait_for(&key("kept"), 101).await;
    running.stop().await.unwrap();
    assert_eq!(lines.with(&["does it wake itself?", "reconciles=50"]).len(), 1, "{lines:?}");
    assert!(lines.with(&["slowed down"]).is_empty(), "{lines:?}");
}

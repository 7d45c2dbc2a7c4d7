//! What a controller counts.

use std::time::Duration;

use kubewright::controller::Builder;
use kubewright_testing::TestEnv;

use crate::{
    common::key,
    scripted::{Scripted, Step, by_hand},
};

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
    let configure = |builder: Builder| {
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

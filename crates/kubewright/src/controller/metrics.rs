//! What a controller counts, under upstream's names.

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use super::outcome::{Outcome, Requeue};
use crate::metrics::Registry;

/// The metrics of one controller. All results are there from the start, at zero.
///
/// Source: controller-runtime `pkg/internal/controller/metrics`.
#[derive(Debug)]
pub(super) struct ControllerMetrics {
    success: IntCounter,
    error: IntCounter,
    requeue_after: IntCounter,
    errors: IntCounter,
    terminal_errors: IntCounter,
    panics: IntCounter,
    timeouts: IntCounter,
    time: Histogram,
    active_workers: IntGauge,
}

impl ControllerMetrics {
    pub(super) fn new(registry: &Registry, controller: &str, workers: usize) -> Self {
        let all = registry.shared::<ControllerCollector>();
        let total = |result| all.total.with_label_values(&[controller, result]);
        // Upstream's deprecated result: nothing of ours asks for it, but dashboards expect the series.
        total("requeue");
        all.max_concurrent_reconciles
            .with_label_values(&[controller])
            .set(i64::try_from(workers).unwrap_or(i64::MAX));
        Self {
            success: total("success"),
            error: total("error"),
            requeue_after: total("requeue_after"),
            errors: all.errors.with_label_values(&[controller]),
            terminal_errors: all.terminal_errors.with_label_values(&[controller]),
            panics: all.panics.with_label_values(&[controller]),
            timeouts: all.timeouts.with_label_values(&[controller]),
            time: all.time.with_label_values(&[controller]),
            active_workers: all.active_workers.with_label_values(&[controller]),
        }
    }

    /// A worker is at work until the guard is dropped.
    pub(super) fn working(&self) -> impl Drop + use<> {
        self.active_workers.inc();
        Working { active_workers: self.active_workers.clone() }
    }

    pub(super) fn observe(&self, outcome: &Outcome, took: std::time::Duration) {
        self.time.observe(took.as_secs_f64());
        match outcome {
            Outcome::Panicked(_) => self.panics.inc(),
            Outcome::TimedOut(_) => self.timeouts.inc(),
            Outcome::Done(_) | Outcome::Failed(_) => {}
        }
        match (outcome, outcome.verdict().requeue) {
            (Outcome::Done(_), Requeue::No) => self.success.inc(),
            (Outcome::Done(_), _) => self.requeue_after.inc(),
            (_, requeue) => {
                self.errors.inc();
                self.error.inc();
                if requeue == Requeue::No {
                    self.terminal_errors.inc();
                }
            }
        }
    }
}

struct Working {
    active_workers: IntGauge,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.active_workers.dec();
    }
}

/// The metrics of all controllers of one registry.
#[derive(Clone)]
struct ControllerCollector {
    total: IntCounterVec,
    errors: IntCounterVec,
    terminal_errors: IntCounterVec,
    panics: IntCounterVec,
    timeouts: IntCounterVec,
    time: HistogramVec,
    max_concurrent_reconciles: IntGaugeVec,
    active_workers: IntGaugeVec,
}

impl Default for ControllerCollector {
    fn default() -> Self {
        Self {
            total: made(IntCounterVec::new(
                Opts::new("controller_runtime_reconcile_total", "Reconciles by controller and result"),
                &["controller", "result"],
            )),
            errors: counter(
                "controller_runtime_reconcile_errors_total",
                "Reconciles that failed, by controller",
            ),
            terminal_errors: counter(
                "controller_runtime_terminal_reconcile_errors_total",
                "Reconciles that failed for good, by controller",
            ),
            panics: counter(
                "controller_runtime_reconcile_panics_total",
                "Reconciles that panicked, by controller",
            ),
            timeouts: counter(
                "controller_runtime_reconcile_timeouts_total",
                "Reconciles that took too long, by controller",
            ),
            time: made(HistogramVec::new(
                HistogramOpts::new(
                    "controller_runtime_reconcile_time_seconds",
                    "How long reconciles take, by controller",
                )
                .buckets(TIME_BUCKETS.to_vec()),
                &["controller"],
            )),
            max_concurrent_reconciles: gauge(
                "controller_runtime_max_concurrent_reconciles",
                "How many reconciles may run at once, by controller",
            ),
            active_workers: gauge(
                "controller_runtime_active_workers",
                "How many workers are at work, by controller",
            ),
        }
    }
}

impl ControllerCollector {
    fn parts(&self) -> [&dyn Collector; 8] {
        [
            &self.total,
            &self.errors,
            &self.terminal_errors,
            &self.panics,
            &self.timeouts,
            &self.time,
            &self.max_concurrent_reconciles,
            &self.active_workers,
        ]
    }
}

impl Collector for ControllerCollector {
    fn desc(&self) -> Vec<&Desc> {
        self.parts().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.parts().into_iter().flat_map(Collector::collect).collect()
    }
}

fn counter(name: &str, help: &str) -> IntCounterVec {
    made(IntCounterVec::new(Opts::new(name, help), &["controller"]))
}

fn gauge(name: &str, help: &str) -> IntGaugeVec {
    made(IntGaugeVec::new(Opts::new(name, help), &["controller"]))
}

fn made<C>(collector: prometheus::Result<C>) -> C {
    collector.expect("the names and labels above are well-formed")
}

const TIME_BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0,
];

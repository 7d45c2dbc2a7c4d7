//! What is counted of sources.

use prometheus::{
    IntCounterVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use crate::metrics::Registry;

/// Counts the events that a controller's sources could not handle, by source and reason (`error`, `panic`).
///
/// # Differences from Go
/// There is no such metric: a mapping function cannot fail, and a panic in it ends the process.
#[derive(Clone, Debug)]
pub(crate) struct SourceMetrics {
    controller: String,
    failures: Failures,
}

impl SourceMetrics {
    pub(crate) fn new(registry: &Registry, controller: &str) -> Self {
        Self { controller: controller.to_owned(), failures: registry.shared() }
    }

    pub(super) fn count_failure(&self, source: &str, reason: &str) {
        self.failures.0.with_label_values(&[&*self.controller, source, reason]).inc();
    }
}

#[derive(Clone, Debug)]
struct Failures(IntCounterVec);

impl Default for Failures {
    fn default() -> Self {
        let options = Opts::new(
            "kubewright_source_event_failures_total",
            "Events that a source could not handle and tries again, by controller, source and reason",
        );
        let counters = IntCounterVec::new(options, &["controller", "source", "reason"]);
        Self(counters.expect("the names above are well-formed"))
    }
}

impl Collector for Failures {
    fn desc(&self) -> Vec<&Desc> {
        self.0.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.0.collect()
    }
}

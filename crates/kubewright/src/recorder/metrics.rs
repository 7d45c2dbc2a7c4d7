//! What becomes of events.

use prometheus::{
    IntCounter, IntCounterVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use crate::metrics::Registry;

/// `kubewright_events_total` by what became of the event.
#[derive(Clone, Debug)]
pub(super) struct EventMetrics {
    /// Requests that stored an event or its repetitions.
    pub(super) written: IntCounter,
    /// The queue was full, or the recorder had stopped.
    pub(super) dropped: IntCounter,
    /// The API server did not want it.
    pub(super) refused: IntCounter,
    /// The API server could not be reached for long, or the process stopped before.
    pub(super) failed: IntCounter,
}

impl EventMetrics {
    pub(super) fn of(registry: &Registry) -> Self {
        let Outcomes(all) = registry.shared::<Outcomes>();
        let of = |outcome| all.with_label_values(&[outcome]);
        Self { written: of("written"), dropped: of("dropped"), refused: of("refused"), failed: of("failed") }
    }
}

#[derive(Clone)]
struct Outcomes(IntCounterVec);

impl Default for Outcomes {
    fn default() -> Self {
        let opts = Opts::new(
            "kubewright_events_total",
            "Total number of events by outcome: written to the API server, dropped because too many were waiting, \
             refused by the API server, or failed because it could not be reached",
        );
        Self(IntCounterVec::new(opts, &["outcome"]).expect("the name and its label are valid"))
    }
}

impl Collector for Outcomes {
    fn desc(&self) -> Vec<&Desc> {
        self.0.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.0.collect()
    }
}

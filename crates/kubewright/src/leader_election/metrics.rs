//! Who leads, as dashboards know it.

use prometheus::{
    IntGauge, IntGaugeVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use crate::metrics::Registry;

/// `leader_election_master_status` of one lease: 1 while this process leads.
///
/// Source: controller-runtime `pkg/metrics/leaderelection.go`.
pub(super) fn master_status(registry: &Registry, name: &str) -> IntGauge {
    registry.shared::<MasterStatus>().0.with_label_values(&[name])
}

#[derive(Clone)]
struct MasterStatus(IntGaugeVec);

impl Default for MasterStatus {
    fn default() -> Self {
        let opts = Opts::new(
            "leader_election_master_status",
            "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. \
             'name' is the string used to identify the lease. Please make sure to group by name.",
        );
        Self(IntGaugeVec::new(opts, &["name"]).expect("the name and its label are valid"))
    }
}

impl Collector for MasterStatus {
    fn desc(&self) -> Vec<&Desc> {
        self.0.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.0.collect()
    }
}

//! What is counted of caches.

use prometheus::{
    IntCounter, IntCounterVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use crate::{metrics::Registry, object::Kind};

/// Counts the states of objects of one kind that the cache could not read: each once, however often it is listed.
///
/// # Differences from Go
/// There is no such metric: there, one object that does not decode fails the list of all.
pub(super) fn unreadable_objects(registry: &Registry, kind: &Kind) -> IntCounter {
    let UnreadableObjects(counters) = registry.shared();
    counters.with_label_values(&[&*kind.api_version(), kind.kind()])
}

#[derive(Clone, Debug)]
struct UnreadableObjects(IntCounterVec);

impl Default for UnreadableObjects {
    fn default() -> Self {
        let options = Opts::new(
            "kubewright_cache_unreadable_objects_total",
            "States of objects that the cache could not read, by api_version and kind",
        );
        let counters = IntCounterVec::new(options, &["api_version", "kind"]);
        Self(counters.expect("the names above are well-formed"))
    }
}

impl Collector for UnreadableObjects {
    fn desc(&self) -> Vec<&Desc> {
        self.0.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.0.collect()
    }
}

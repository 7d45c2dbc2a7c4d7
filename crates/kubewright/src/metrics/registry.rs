//! Where collectors are registered and read from.

use std::sync::LazyLock;

use prometheus::core::Collector;
use prometheus::proto::MetricFamily;

use super::text;
use crate::workqueue::{MetricsProvider, QueueMetrics, WorkqueueCollector};

/// The process-wide registry, which everything uses that was not given another.
///
/// Source: controller-runtime `metrics.Registry`.
pub fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::new);
    &REGISTRY
}

/// A set of collectors. Clones are handles to one set.
///
/// It is also the [`MetricsProvider`] of the queues that are measured in it.
///
/// # Example: a metric of one's own
///
/// ```
/// use prometheus::IntCounter;
///
/// let baskets = IntCounter::new("baskets_total", "Baskets that were filled")?;
/// let registry = kubewright::metrics::Registry::new();
/// registry.register(baskets.clone())?;
///
/// baskets.inc();
/// assert_eq!(registry.gather()[0].name(), "baskets_total");
/// # Ok::<(), prometheus::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    inner: prometheus::Registry,
    workqueues: WorkqueueCollector,
}

impl Registry {
    /// Makes a registry with nothing in it but the metrics of queues, of which there are none yet.
    #[expect(clippy::missing_panics_doc, reason = "an empty registry has no metric to collide with")]
    pub fn new() -> Self {
        let inner = prometheus::Registry::new();
        let workqueues = WorkqueueCollector::new();
        inner.register(Box::new(workqueues.clone())).expect("an empty registry has no such metric");
        Self { inner, workqueues }
    }

    /// Adds a collector.
    ///
    /// # Errors
    ///
    /// Fails if the registry has a metric of the same name and labels.
    pub fn register(&self, collector: impl Collector + 'static) -> prometheus::Result<()> {
        self.inner.register(Box::new(collector))
    }

    /// All metrics at this moment, by name.
    pub fn gather(&self) -> Vec<MetricFamily> {
        self.inner.gather()
    }

    /// All metrics at this moment, in Prometheus' text format 0.0.4, with numbers written as Go writes them.
    pub fn text(&self) -> String {
        text::encode(&self.gather())
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl MetricsProvider for Registry {
    fn register(&self, name: &str, queue: QueueMetrics) {
        self.workqueues.add(name, queue);
    }
}

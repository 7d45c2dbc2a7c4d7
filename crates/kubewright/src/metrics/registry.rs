//! Where collectors are registered and read from.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock},
};

use parking_lot::Mutex;
use prometheus::{core::Collector, proto::MetricFamily};

use super::{open_metrics, text};

/// The process-wide registry, which everything uses that was not given another.
///
/// Source: controller-runtime `metrics.Registry`.
pub fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::new);
    &REGISTRY
}

/// A set of collectors. Clones are handles to one set.
///
/// It is also the [`MetricsProvider`](crate::workqueue::MetricsProvider) of the queues that are measured in it.
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
#[derive(Clone, Default)]
pub struct Registry {
    inner: prometheus::Registry,
    /// What rooms of this crate measure, by type.
    shared: Arc<Mutex<HashMap<TypeId, Box<dyn Any + Send>>>>,
}

impl Registry {
    /// Makes a registry with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// The collector `C` of this registry: made and registered for the first who asks, the same for all others.
    ///
    /// Where the author has a metric of one of its names, theirs is exported and ours counts unseen.
    pub(crate) fn shared<C: Collector + Clone + Default + 'static>(&self) -> C {
        let mut shared = self.shared.lock();
        if let Some(known) = shared.get(&TypeId::of::<C>()).and_then(|known| known.downcast_ref::<C>()) {
            return known.clone();
        }
        let collector = C::default();
        if let Err(error) = self.register(collector.clone()) {
            let collector = std::any::type_name::<C>();
            tracing::warn!(%error, collector, "metrics of this process are not exported");
        }
        shared.insert(TypeId::of::<C>(), Box::new(collector.clone()));
        collector
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

    /// All metrics at this moment, in the `OpenMetrics` text format 1.0.0.
    pub fn open_metrics(&self) -> String {
        open_metrics::encode(&self.gather())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

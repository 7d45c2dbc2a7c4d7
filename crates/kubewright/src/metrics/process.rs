//! What a process says about itself: memory, processor, files, and the tasks of its runtime.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use prometheus::{
    Counter, IntGauge,
    core::{Collector, Desc},
    proto::MetricFamily,
};
use tokio::runtime::{Handle, RuntimeMetrics};

use super::Registry;

/// Adds what is known of the process to a registry: `process_*` under the names of all clients of Prometheus (on Linux), and `tokio_*` of the runtime that the
/// caller runs on. Once per registry.
///
/// # Differences from Go
/// There is no `go_*`, since there is no Go. Panels that show goroutines find alive tasks under `tokio_alive_tasks`.
pub(crate) fn register(registry: &Registry) {
    #[cfg(target_os = "linux")]
    registry.shared::<ProcessMetrics>();
    if Handle::try_current().is_ok() {
        registry.shared::<TokioMetrics>();
    }
}

/// `process_cpu_seconds_total`, `process_resident_memory_bytes` and so on.
#[cfg(target_os = "linux")]
#[derive(Clone)]
struct ProcessMetrics(Arc<prometheus::process_collector::ProcessCollector>);

#[cfg(target_os = "linux")]
impl Default for ProcessMetrics {
    fn default() -> Self {
        Self(Arc::new(prometheus::process_collector::ProcessCollector::for_self()))
    }
}

#[cfg(target_os = "linux")]
impl Collector for ProcessMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.0.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.0.collect()
    }
}

/// What tokio counts, of the runtime on which this was made. Read when somebody looks.
#[derive(Clone)]
struct TokioMetrics {
    runtime: RuntimeMetrics,
    workers: IntGauge,
    alive_tasks: IntGauge,
    global_queue_depth: IntGauge,
    /// A counter cannot be set, so this one is brought forward, by one reader at a time.
    busy_seconds: Arc<Mutex<Counter>>,
    busy_seconds_desc: Vec<Desc>,
}

impl Default for TokioMetrics {
    fn default() -> Self {
        let gauge = |name, help| IntGauge::new(name, help).expect(WELL_FORMED);
        let busy_seconds = Counter::new(
            "tokio_worker_busy_seconds_total",
            "How long the threads of the runtime have been at work, all together.",
        );
        let busy_seconds = busy_seconds.expect(WELL_FORMED);
        Self {
            runtime: Handle::current().metrics(),
            workers: gauge("tokio_workers", "Threads of the runtime that run tasks."),
            alive_tasks: gauge("tokio_alive_tasks", "Tasks that were spawned and have not ended."),
            global_queue_depth: gauge(
                "tokio_global_queue_depth",
                "Tasks that are ready and that no thread has taken yet.",
            ),
            busy_seconds_desc: busy_seconds.desc().into_iter().cloned().collect(),
            busy_seconds: Arc::new(Mutex::new(busy_seconds)),
        }
    }
}

impl Collector for TokioMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let gauges = [&self.workers, &self.alive_tasks, &self.global_queue_depth];
        gauges.into_iter().flat_map(Collector::desc).chain(&self.busy_seconds_desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let set = |gauge: &IntGauge, value: usize| {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.collect()
        };
        let mut families = set(&self.workers, self.runtime.num_workers());
        families.extend(set(&self.alive_tasks, self.runtime.num_alive_tasks()));
        families.extend(set(&self.global_queue_depth, self.runtime.global_queue_depth()));
        families.extend(self.busy_seconds());
        families
    }
}

impl TokioMetrics {
    fn busy_seconds(&self) -> Vec<MetricFamily> {
        let workers = 0..self.runtime.num_workers();
        let busy: Duration = workers.map(|worker| busy(&self.runtime, worker)).sum();
        let counter = self.busy_seconds.lock();
        counter.inc_by((busy.as_secs_f64() - counter.get()).max(0.0));
        counter.collect()
    }
}

#[cfg(target_has_atomic = "64")]
fn busy(runtime: &RuntimeMetrics, worker: usize) -> Duration {
    runtime.worker_total_busy_duration(worker)
}

/// tokio does not measure it there.
#[cfg(not(target_has_atomic = "64"))]
fn busy(_: &RuntimeMetrics, _: usize) -> Duration {
    Duration::ZERO
}

const WELL_FORMED: &str = "the names are constants that prometheus accepts";

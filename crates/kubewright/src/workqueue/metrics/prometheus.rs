//! Upstream's `workqueue_*` metrics, read from the queues at each scrape.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use prometheus::core::{Collector, Desc};
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};

use super::{DurationHistogram, MetricsProvider, QueueMetrics, QueueStats};
use crate::metrics::Registry;

/// Collects the metrics of all queues that are registered with it. Queues of one name share their series.
///
/// Source: controller-runtime `pkg/internal/metrics/workqueue.go`, with its names, labels and help texts.
///
/// # Differences from Go
///
/// There are no native histograms: the `prometheus` crate does not have them. Once there are more than 25 priorities, upstream counts
/// down also the known ones at `exceeded_cardinality_limit`, which leaves both series wrong for ever; here the known ones stay exact.
#[derive(Clone, Debug)]
struct WorkqueueCollector {
    descs: Arc<[Desc]>,
    queues: Arc<Mutex<Vec<(String, QueueMetrics)>>>,
}

impl MetricsProvider for Registry {
    fn register(&self, name: &str, queue: QueueMetrics) {
        self.shared::<WorkqueueCollector>().add(name, queue);
    }
}

impl Default for WorkqueueCollector {
    fn default() -> Self {
        Self { descs: FAMILIES.iter().map(Family::desc).collect(), queues: Arc::default() }
    }
}

impl WorkqueueCollector {
    fn add(&self, name: &str, queue: QueueMetrics) {
        let mut queues = self.queues.lock();
        queues.retain(|(_, queue)| queue.is_alive());
        queues.push((name.to_owned(), queue));
    }

    fn stats(&self) -> BTreeMap<String, QueueStats> {
        // A queue is read outside of our lock: reading takes the queue's own.
        let queues = self.queues.lock().clone();
        let mut by_name = BTreeMap::<String, QueueStats>::new();
        for (name, queue) in queues {
            if let Some(stats) = queue.stats() {
                by_name.entry(name).or_default().merge(&stats);
            }
        }
        by_name
    }
}

impl Collector for WorkqueueCollector {
    fn desc(&self) -> Vec<&Desc> {
        self.descs.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let stats = self.stats();
        if stats.is_empty() {
            return Vec::new();
        }
        FAMILIES.iter().map(|family| family.collect(&stats)).collect()
    }
}

/// One metric of every queue.
struct Family {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    labels: &'static [&'static str],
    read: fn(&QueueStats) -> Vec<Sample>,
}

/// A value, and that of its last label if there is one beyond the queue's.
type Sample = (Option<String>, Value);

enum Value {
    Counter(u64),
    Gauge(f64),
    Histogram(DurationHistogram),
}

const FAMILIES: [Family; 7] = [
    Family {
        name: "workqueue_depth",
        help: "Current depth of workqueue by workqueue and priority",
        kind: MetricType::GAUGE,
        labels: &["name", "controller", "priority"],
        read: depth,
    },
    Family {
        name: "workqueue_adds_total",
        help: "Total number of adds handled by workqueue",
        kind: MetricType::COUNTER,
        labels: QUEUE,
        read: |stats| vec![(None, Value::Counter(stats.adds))],
    },
    Family {
        name: "workqueue_queue_duration_seconds",
        help: "How long in seconds an item stays in workqueue before being requested",
        kind: MetricType::HISTOGRAM,
        labels: QUEUE,
        read: |stats| vec![(None, Value::Histogram(stats.queue_duration.clone()))],
    },
    Family {
        name: "workqueue_work_duration_seconds",
        help: "How long in seconds processing an item from workqueue takes.",
        kind: MetricType::HISTOGRAM,
        labels: QUEUE,
        read: |stats| vec![(None, Value::Histogram(stats.work_duration.clone()))],
    },
    Family {
        name: "workqueue_unfinished_work_seconds",
        help: "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. Large \
               values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which \
               this increases.",
        kind: MetricType::GAUGE,
        labels: QUEUE,
        read: |stats| vec![(None, seconds(stats.unfinished_work))],
    },
    Family {
        name: "workqueue_longest_running_processor_seconds",
        help: "How many seconds has the longest running processor for workqueue been running.",
        kind: MetricType::GAUGE,
        labels: QUEUE,
        read: |stats| vec![(None, seconds(stats.longest_running_processor))],
    },
    Family {
        name: "workqueue_retries_total",
        help: "Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit \
               RequeueAfter or AddAfter calls)",
        kind: MetricType::COUNTER,
        labels: QUEUE,
        read: |stats| vec![(None, Value::Counter(stats.retries))],
    },
];

const QUEUE: &[&str] = &["name", "controller"];

fn depth(stats: &QueueStats) -> Vec<Sample> {
    let known = stats.depth.iter().map(|&(priority, depth)| (Some(priority.to_string()), gauge(depth)));
    let elsewhere =
        stats.depth_elsewhere.map(|depth| (Some("exceeded_cardinality_limit".to_owned()), gauge(depth)));
    known.chain(elsewhere).collect()
}

fn gauge(count: usize) -> Value {
    // A count of keys is far below 2^32, where floats count exactly.
    Value::Gauge(u32::try_from(count).map_or(f64::INFINITY, f64::from))
}

fn seconds(duration: Duration) -> Value {
    Value::Gauge(duration.as_secs_f64())
}

impl Family {
    fn desc(&self) -> Desc {
        let labels = self.labels.iter().map(|&label| label.to_owned()).collect();
        Desc::new(self.name.to_owned(), self.help.to_owned(), labels, std::collections::HashMap::default())
            .expect("names and labels of the table are valid")
    }

    fn collect(&self, stats: &BTreeMap<String, QueueStats>) -> MetricFamily {
        let metrics = stats.iter().flat_map(|(name, stats)| {
            (self.read)(stats).into_iter().map(move |(label, value)| self.metric(name, label, value))
        });
        let mut family = MetricFamily::default();
        family.set_name(self.name.to_owned());
        family.set_help(self.help.to_owned());
        family.set_field_type(self.kind);
        family.set_metric(metrics.collect());
        family
    }

    fn metric(&self, queue: &str, label: Option<String>, value: Value) -> Metric {
        let values = [Some(queue.to_owned()), Some(queue.to_owned()), label].into_iter().flatten();
        let labels = self.labels.iter().zip(values).map(|(&name, value)| {
            let mut pair = LabelPair::default();
            pair.set_name(name.to_owned());
            pair.set_value(value);
            pair
        });
        // The order of the crate's own metrics, and Go's.
        let mut labels: Vec<_> = labels.collect();
        labels.sort_by(|a, b| a.name().cmp(b.name()));
        let mut metric = Metric::from_label(labels);
        value.write(&mut metric);
        metric
    }
}

impl Value {
    fn write(self, metric: &mut Metric) {
        match self {
            Self::Counter(count) => {
                let mut counter = Counter::default();
                #[expect(clippy::cast_precision_loss, reason = "the exposition format counts in floats")]
                counter.set_value(count as f64);
                metric.set_counter(counter);
            }
            Self::Gauge(value) => {
                let mut gauge = Gauge::default();
                gauge.set_value(value);
                metric.set_gauge(gauge);
            }
            Self::Histogram(histogram) => metric.set_histogram(write_histogram(&histogram)),
        }
    }
}

fn write_histogram(histogram: &DurationHistogram) -> Histogram {
    // Go makes the bounds by multiplying, with the rounding that shows in `le`, and dashboards know these.
    let bounds = std::iter::successors(Some(1e-8), |bound| Some(bound * 10.0));
    let buckets = histogram.cumulative().zip(bounds).map(|((_, count), bound)| {
        let mut bucket = Bucket::default();
        bucket.set_cumulative_count(count);
        bucket.set_upper_bound(bound);
        bucket
    });
    let mut proto = Histogram::default();
    proto.set_sample_count(histogram.count());
    proto.set_sample_sum(histogram.sum().as_secs_f64());
    proto.set_bucket(buckets.collect());
    proto
}

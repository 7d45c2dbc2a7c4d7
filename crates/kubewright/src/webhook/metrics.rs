//! What webhooks count, under upstream's names.

use std::time::Duration;

use http::StatusCode;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    core::{Collector, Desc},
    exponential_buckets,
    proto::MetricFamily,
};

use crate::metrics::Registry;

/// The metrics of one path. The codes 200 and 500 are there from the start, at zero.
///
/// Source: controller-runtime `pkg/webhook/internal/metrics`.
#[derive(Clone, Debug)]
pub(super) struct PathMetrics {
    path: String,
    total: IntCounterVec,
    latency: Histogram,
    in_flight: IntGauge,
}

impl PathMetrics {
    pub(super) fn new(registry: &Registry, path: &str) -> Self {
        let all = registry.shared::<WebhookCollector>();
        for code in ["200", "500"] {
            all.total.with_label_values(&[path, code]);
        }
        Self {
            path: path.to_owned(),
            latency: all.latency.with_label_values(&[path]),
            in_flight: all.in_flight.with_label_values(&[path]),
            total: all.total,
        }
    }

    /// A request is under way until the guard is dropped.
    pub(super) fn working(&self) -> impl Drop + use<> {
        self.in_flight.inc();
        Working(self.in_flight.clone())
    }

    pub(super) fn observe(&self, code: StatusCode, took: Duration) {
        self.total.with_label_values(&[self.path.as_str(), code.as_str()]).inc();
        self.latency.observe(took.as_secs_f64());
    }
}

/// How many panics of admission handlers were contained.
pub(super) fn admission_panics(registry: &Registry) -> IntCounter {
    registry.shared::<WebhookCollector>().panics
}

/// How many panics of converters were contained.
pub(super) fn conversion_panics(registry: &Registry) -> IntCounter {
    registry.shared::<WebhookCollector>().conversion_panics
}

struct Working(IntGauge);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The metrics of all webhooks of one registry.
#[derive(Clone)]
struct WebhookCollector {
    total: IntCounterVec,
    latency: HistogramVec,
    in_flight: IntGaugeVec,
    panics: IntCounter,
    conversion_panics: IntCounter,
}

impl Default for WebhookCollector {
    fn default() -> Self {
        const FIXED: &str = "names, labels and buckets are constants that prometheus accepts";
        let buckets = exponential_buckets(10e-9, 10.0, 12).expect(FIXED);
        let latency = HistogramOpts::new(
            "controller_runtime_webhook_latency_seconds",
            "Histogram of the latency of processing admission requests",
        );
        let total = Opts::new(
            "controller_runtime_webhook_requests_total",
            "Total number of admission requests by HTTP status code.",
        );
        let in_flight = Opts::new(
            "controller_runtime_webhook_requests_in_flight",
            "Current number of admission requests being served.",
        );
        let panics =
            IntCounter::new("controller_runtime_webhook_panics_total", "Total number of webhook panics");
        let conversion_panics = IntCounter::new(
            "controller_runtime_conversion_webhook_panics_total",
            "Total number of conversion webhook panics",
        );
        Self {
            panics: panics.expect(FIXED),
            conversion_panics: conversion_panics.expect(FIXED),
            total: IntCounterVec::new(total, &["webhook", "code"]).expect(FIXED),
            latency: HistogramVec::new(latency.buckets(buckets), &["webhook"]).expect(FIXED),
            in_flight: IntGaugeVec::new(in_flight, &["webhook"]).expect(FIXED),
        }
    }
}

impl WebhookCollector {
    fn parts(&self) -> [&dyn Collector; 5] {
        [&self.total, &self.latency, &self.in_flight, &self.panics, &self.conversion_panics]
    }
}

impl Collector for WebhookCollector {
    fn desc(&self) -> Vec<&Desc> {
        self.parts().into_iter().flat_map(|part| part.desc()).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.parts().into_iter().flat_map(|part| part.collect()).collect()
    }
}

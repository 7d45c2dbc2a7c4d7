//! The `OpenMetrics` format, written as Go's `expfmt` writes it.

use std::fmt::{self, Display, Write};

use prometheus::proto::{Metric, MetricFamily, MetricType};

use super::text::{Number, escape, kind_name};

/// Families as `OpenMetrics` text, version 1.0.0.
///
/// Source: prometheus/common `expfmt.MetricFamilyToOpenMetrics`.
pub(super) fn encode(families: &[MetricFamily]) -> String {
    let mut text: String = families.iter().map(|family| Family(family).to_string()).collect();
    text.push_str("# EOF\n");
    text
}

struct Family<'a>(&'a MetricFamily);

impl Display for Family<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (full_name, kind) = (self.0.name(), self.0.get_field_type());
        let (name, kind_name) = match (kind, full_name.strip_suffix("_total")) {
            (MetricType::COUNTER, Some(name)) => (name, "counter"),
            // The format knows no counter of another name.
            (MetricType::COUNTER, None) | (MetricType::UNTYPED, _) => (full_name, "unknown"),
            _ => (full_name, kind_name(kind)),
        };
        if !self.0.help().is_empty() {
            writeln!(f, "# HELP {name} {}", escape(self.0.help(), true))?;
        }
        writeln!(f, "# TYPE {name} {kind_name}")?;
        self.0.get_metric().iter().try_for_each(|metric| write_metric(f, full_name, kind, metric))
    }
}

fn write_metric(f: &mut fmt::Formatter<'_>, name: &str, kind: MetricType, metric: &Metric) -> fmt::Result {
    let mut sample = |suffix: &str, label: Option<(&str, f64)>, value: &dyn Display| {
        writeln!(f, "{name}{suffix}{} {value}", Labels(metric, label))
    };
    match kind {
        MetricType::COUNTER => sample("", None, &Float(metric.get_counter().get_value())),
        MetricType::GAUGE => sample("", None, &Float(metric.get_gauge().get_value())),
        // No collector of the crate makes these, and its model has no way to read them that is not deprecated.
        MetricType::UNTYPED => Ok(()),
        MetricType::SUMMARY => {
            let summary = metric.get_summary();
            for quantile in summary.get_quantile() {
                sample("", Some(("quantile", quantile.quantile())), &Float(quantile.value()))?;
            }
            sample("_sum", None, &Float(summary.sample_sum()))?;
            sample("_count", None, &summary.sample_count())
        }
        MetricType::HISTOGRAM => {
            let histogram = metric.get_histogram();
            for bucket in histogram.get_bucket().iter().filter(|bucket| bucket.upper_bound().is_finite()) {
                sample("_bucket", Some(("le", bucket.upper_bound())), &bucket.cumulative_count())?;
            }
            sample("_bucket", Some(("le", f64::INFINITY)), &histogram.get_sample_count())?;
            sample("_sum", None, &Float(histogram.get_sample_sum()))?;
            sample("_count", None, &histogram.get_sample_count())
        }
    }
}

/// A metric's labels in braces, and one more if there is one.
struct Labels<'a>(&'a Metric, Option<(&'a str, f64)>);

impl Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.0.get_label().iter().map(|label| (label.name(), escape(label.value(), true)));
        let labels = own.chain(self.1.map(|(name, value)| (name, Float(value).to_string())));
        let mut before = '{';
        for (name, value) in labels {
            write!(f, "{before}{name}=\"{value}\"")?;
            before = ',';
        }
        if before == ',' { f.write_char('}') } else { Ok(()) }
    }
}

/// As [`Number`], but nobody takes it for an integer.
struct Float(f64);

impl Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = Number(self.0).to_string();
        f.write_str(&number)?;
        if self.0.is_finite() && !number.contains(['e', '.']) { f.write_str(".0") } else { Ok(()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use prometheus::{Histogram, HistogramOpts, IntCounterVec, Opts};

    use super::*;
    use crate::metrics::Registry;

    #[test]
    fn families_are_written_as_go_does() {
        let registry = Registry::new();
        let counts = IntCounterVec::new(Opts::new("baskets_total", "Baskets \"filled\""), &["of"]).unwrap();
        counts.with_label_values(&["a\"b"]).inc_by(3);
        let seconds =
            Histogram::with_opts(HistogramOpts::new("work_seconds", "Work").buckets(vec![1e-8, 1.0]))
                .unwrap();
        seconds.observe(0.5);
        registry.register(counts).unwrap();
        registry.register(seconds).unwrap();
        let odd = prometheus::IntCounter::new("odd", "A counter of a name that the format has not").unwrap();
        registry.register(odd).unwrap();
        assert_eq!(
            encode(&registry.gather()),
            r#"# HELP baskets Baskets \"filled\"
# TYPE baskets counter
baskets_total{of="a\"b"} 3.0
# HELP odd A counter of a name that the format has not
# TYPE odd unknown
odd 0.0
# HELP work_seconds Work
# TYPE work_seconds histogram
work_seconds_bucket{le="1e-08"} 0
work_seconds_bucket{le="1.0"} 1
work_seconds_bucket{le="+Inf"} 1
work_seconds_sum 0.5
work_seconds_count 1
# EOF
"#
        );
    }
}

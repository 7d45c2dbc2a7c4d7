//! The exposition format, with numbers written as Go writes them.

use std::fmt::{self, Display, Write};

use prometheus::proto::{Metric, MetricFamily, MetricType};

/// Families as Prometheus' text format, version 0.0.4.
///
/// The `prometheus` crate has an encoder, which writes numbers as Rust does: the smallest bucket of a queue would be
/// `le="0.00000001"` where Go has `le="1e-08"`. A label is a string, and recording rules that name it would stop matching.
pub(super) fn encode(families: &[MetricFamily]) -> String {
    families.iter().map(|family| Family(family).to_string()).collect()
}

struct Family<'a>(&'a MetricFamily);

impl Display for Family<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, kind) = (self.0.name(), self.0.get_field_type());
        if !self.0.help().is_empty() {
            writeln!(f, "# HELP {name} {}", escape(self.0.help(), false))?;
        }
        writeln!(f, "# TYPE {name} {}", kind_name(kind))?;
        self.0.get_metric().iter().try_for_each(|metric| write_metric(f, name, kind, metric))
    }
}

fn write_metric(f: &mut fmt::Formatter<'_>, name: &str, kind: MetricType, metric: &Metric) -> fmt::Result {
    let mut sample = |suffix: &str, label: Option<(&str, f64)>, value: f64| {
        writeln!(f, "{name}{suffix}{} {}", Labels(metric, label), Number(value))
    };
    match kind {
        MetricType::COUNTER => sample("", None, metric.get_counter().get_value()),
        MetricType::GAUGE => sample("", None, metric.get_gauge().get_value()),
        // No collector of the crate makes these, and its model has no way to read them that is not deprecated.
        MetricType::UNTYPED => Ok(()),
        MetricType::SUMMARY => {
            let summary = metric.get_summary();
            for quantile in summary.get_quantile() {
                sample("", Some(("quantile", quantile.quantile())), quantile.value())?;
            }
            sample("_sum", None, summary.sample_sum())?;
            sample("_count", None, count(summary.sample_count()))
        }
        MetricType::HISTOGRAM => {
            let histogram = metric.get_histogram();
            for bucket in histogram.get_bucket().iter().filter(|bucket| bucket.upper_bound().is_finite()) {
                sample("_bucket", Some(("le", bucket.upper_bound())), count(bucket.cumulative_count()))?;
            }
            sample("_bucket", Some(("le", f64::INFINITY)), count(histogram.get_sample_count()))?;
            sample("_sum", None, histogram.get_sample_sum())?;
            sample("_count", None, count(histogram.get_sample_count()))
        }
    }
}

/// A metric's labels in braces, and one more if there is one.
struct Labels<'a>(&'a Metric, Option<(&'a str, f64)>);

impl Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.0.get_label().iter().map(|label| (label.name(), escape(label.value(), true)));
        let labels = own.chain(self.1.map(|(name, value)| (name, Number(value).to_string())));
        let mut before = '{';
        for (name, value) in labels {
            write!(f, "{before}{name}=\"{value}\"")?;
            before = ',';
        }
        if before == ',' { f.write_char('}') } else { Ok(()) }
    }
}

/// A number as Go's `strconv.FormatFloat(value, 'g', -1, 64)` writes it: with an exponent of two digits at least, if it is below -4 or
/// above 5.
pub(super) struct Number(pub(super) f64);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = *self;
        if value.is_nan() {
            return f.write_str("NaN");
        }
        if value.is_infinite() {
            return f.write_str(if value > 0.0 { "+Inf" } else { "-Inf" });
        }
        let scientific = format!("{value:e}");
        match scientific.split_once('e').map(|(digits, exponent)| (digits, exponent.parse::<i32>())) {
            Some((digits, Ok(exponent))) if !(-4..=5).contains(&exponent) => {
                let sign = if exponent < 0 { '-' } else { '+' };
                write!(f, "{digits}e{sign}{:02}", exponent.abs())
            }
            _ => write!(f, "{value}"),
        }
    }
}

pub(super) fn kind_name(kind: MetricType) -> &'static str {
    match kind {
        MetricType::COUNTER => "counter",
        MetricType::GAUGE => "gauge",
        MetricType::HISTOGRAM => "histogram",
        MetricType::SUMMARY => "summary",
        MetricType::UNTYPED => "untyped",
    }
}

pub(super) fn escape(text: &str, quotes: bool) -> String {
    let escaped = text.replace('\\', r"\\").replace('\n', r"\n");
    if quotes { escaped.replace('"', r#"\""#) } else { escaped }
}

#[expect(clippy::cast_precision_loss, reason = "the exposition format counts in floats")]
fn count(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_go_does() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (9.999_999_999_999_999e-5, "9.999999999999999e-05"),
            (1e-8, "1e-08"),
            (100_000.0, "100000"),
            (1_000_000.0, "1e+06"),
            (1_234_567.5, "1.2345675e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(Number(value).to_string(), expected);
        }
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a\\b\n\"c\"", true), r#"a\\b\n\"c\""#);
        assert_eq!(escape("a\\b\n\"c\"", false), r#"a\\b\n"c""#);
    }
}

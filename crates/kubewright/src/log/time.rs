//! How a log line says when.

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;
use tracing_subscriber::fmt::{format::Writer, time::FormatTime};

/// How times look. Texts are in UTC; numbers are numbers in JSON, too.
///
/// Source: zap's `TimeEncoder`s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TimeFormat {
    /// RFC 3339 with microseconds, as `tracing` writes it: `2026-12-03T06:35:49.125228Z`.
    #[default]
    Rfc3339Micros,
    /// RFC 3339 with whole seconds, as controller-runtime writes it: `2026-12-03T06:35:49Z`.
    Rfc3339,
    /// RFC 3339 with nanoseconds: `2026-12-03T06:35:49.125228613Z`.
    Rfc3339Nanos,
    /// ISO 8601 with milliseconds: `2026-12-03T06:35:49.125Z`.
    Iso8601,
    /// Seconds since 1970: `1796279749.125228`.
    Epoch,
    /// Milliseconds since 1970: `1796279749125.228`.
    EpochMillis,
    /// Nanoseconds since 1970: `1796279749125228613`.
    EpochNanos,
}

impl TimeFormat {
    /// Now, in this form.
    pub(super) fn now(self) -> Value {
        self.of(Timestamp::now())
    }

    fn of(self, time: Timestamp) -> Value {
        match self {
            Self::Rfc3339Micros => format!("{time:.6}").into(),
            Self::Rfc3339 => format!("{time:.0}").into(),
            Self::Rfc3339Nanos => format!("{time:.9}").into(),
            Self::Iso8601 => format!("{time:.3}").into(),
            Self::Epoch => time.as_duration().as_secs_f64().into(),
            Self::EpochMillis => time.as_duration().as_millis_f64().into(),
            // Until the year 2262, as in Go.
            Self::EpochNanos => i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX).into(),
        }
    }
}

impl FormatTime for TimeFormat {
    fn format_time(&self, w: &mut Writer<'_>) -> fmt::Result {
        match self.now() {
            Value::String(text) => w.write_str(&text),
            number => write!(w, "{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_look_as_zap_writes_them() {
        let time = Timestamp::from_millisecond(1_796_279_749_500).unwrap();
        for (format, expected) in [
            (TimeFormat::Rfc3339Micros, json!("2026-12-03T06:35:49.500000Z")),
            (TimeFormat::Rfc3339, json!("2026-12-03T06:35:49Z")),
            (TimeFormat::Rfc3339Nanos, json!("2026-12-03T06:35:49.500000000Z")),
            (TimeFormat::Iso8601, json!("2026-12-03T06:35:49.500Z")),
            (TimeFormat::Epoch, json!(1_796_279_749.5)),
            (TimeFormat::EpochMillis, json!(1_796_279_749_500.0)),
            (TimeFormat::EpochNanos, json!(1_796_279_749_500_000_000_i64)),
        ] {
            assert_eq!(format.of(time), expected, "{format:?}");
        }
    }
}

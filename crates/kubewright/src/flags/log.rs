//! Flags of logs.

use clap::ValueEnum;

use crate::log::{self, LevelFilter, LogFormat, LogOptions, TimeFormat};

/// `--zap-devel`, `--zap-encoder`, `--zap-log-level`, `--zap-time-encoding`: named after the library that writes the logs of operators in Go.
///
/// `RUST_LOG` says more, and wins over the level.
///
/// Source: controller-runtime `log/zap.Options.BindFlags`.
///
/// # Differences from Go
/// kubebuilder's operators are in development mode unless told otherwise. Ours are in neither: JSON in a pod and readable lines elsewhere, at `info`.
#[derive(Clone, Debug, Default, clap::Args)]
#[non_exhaustive]
pub struct LogFlags {
    /// Logs for development: readable lines, at debug
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub zap_devel: Option<bool>,

    /// How a line looks [default: json in a pod, console elsewhere]
    #[arg(long, value_name = "ENCODER", ignore_case = true)]
    pub zap_encoder: Option<Encoder>,

    /// The least important level that is written: debug, info, warn, error, panic (nothing), or a number above 0 [default: info]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub zap_log_level: Option<LevelFilter>,

    /// How times look [default: rfc3339 with microseconds]
    #[arg(long, value_name = "ENCODING", ignore_case = true)]
    pub zap_time_encoding: Option<TimeEncoding>,
}

/// How a line looks, as zap calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Encoder {
    /// One JSON object a line.
    Json,
    /// Lines for people.
    Console,
}

/// How times look, as zap calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimeEncoding {
    /// Seconds since 1970.
    Epoch,
    /// Milliseconds since 1970.
    Millis,
    /// Nanoseconds since 1970.
    Nanos,
    /// ISO 8601, with milliseconds.
    Iso8601,
    /// RFC 3339, with whole seconds.
    Rfc3339,
    /// RFC 3339, with nanoseconds.
    Rfc3339nano,
}

impl LogFlags {
    /// Does to `options` what the flags say.
    pub fn apply(&self, mut options: LogOptions) -> LogOptions {
        match self.zap_devel {
            Some(true) => (options.format, options.level) = (LogFormat::Text, LevelFilter::DEBUG),
            Some(false) => options.format = LogFormat::Json,
            None => {}
        }
        match self.zap_encoder {
            Some(Encoder::Json) => options.format = LogFormat::Json,
            Some(Encoder::Console) => options.format = LogFormat::Text,
            None => {}
        }
        options.level = self.zap_log_level.unwrap_or(options.level);
        options.time = self.zap_time_encoding.map_or(options.time, TimeFormat::from);
        options
    }

    /// Logs as the flags say: [`log::init_with`] what they make of the defaults.
    pub fn init(&self) {
        log::init_with(&self.apply(LogOptions::default()));
    }
}

impl From<TimeEncoding> for TimeFormat {
    fn from(encoding: TimeEncoding) -> Self {
        match encoding {
            TimeEncoding::Epoch => Self::Epoch,
            TimeEncoding::Millis => Self::EpochMillis,
            TimeEncoding::Nanos => Self::EpochNanos,
            TimeEncoding::Iso8601 => Self::Iso8601,
            TimeEncoding::Rfc3339 => Self::Rfc3339,
            TimeEncoding::Rfc3339nano => Self::Rfc3339Nanos,
        }
    }
}

/// controller-runtime's `V(1)` is debug; what is more verbose is our trace.
fn level(text: &str) -> Result<LevelFilter, String> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "debug" => LevelFilter::DEBUG,
        "info" => LevelFilter::INFO,
        "warn" => LevelFilter::WARN,
        "error" => LevelFilter::ERROR,
        "panic" => LevelFilter::OFF,
        number => match number.parse::<i8>() {
            Ok(1) => LevelFilter::DEBUG,
            Ok(2..) => LevelFilter::TRACE,
            _ => return Err(format!("invalid log level \"{text}\"")),
        },
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Args {
        #[command(flatten)]
        log: LogFlags,
    }

    fn parsed(flags: &str) -> Result<LogOptions, String> {
        let args = Args::try_parse_from(["operator"].into_iter().chain(flags.split_whitespace()));
        args.map(|args| args.log.apply(LogOptions::default())).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(flags: &str, format: LogFormat, level: LevelFilter, time: TimeFormat) {
        let options = parsed(flags).unwrap();
        assert_eq!((options.format, options.level, options.time), (format, level, time));
    }

    /// Upstream: the rows of `zap_test.go` about flags.
    #[test]
    fn flags_mean_what_they_mean_in_go() {
        use LevelFilter as Level;
        let (auto, json, text) = (LogFormat::Auto, LogFormat::Json, LogFormat::Text);
        let micros = TimeFormat::default();
        check("", auto, Level::INFO, micros);
        check("--zap-devel", text, Level::DEBUG, micros);
        check("--zap-devel=false", json, Level::INFO, micros);
        check("--zap-devel --zap-encoder=json", json, Level::DEBUG, micros);
        check("--zap-devel --zap-log-level=info", text, Level::INFO, micros);
        check("--zap-encoder=JSON", json, Level::INFO, micros);
        check("--zap-encoder=console", text, Level::INFO, micros);
        for (name, level) in [
            ("DEBUG", Level::DEBUG),
            ("warn", Level::WARN),
            ("error", Level::ERROR),
            ("panic", Level::OFF),
            ("1", Level::DEBUG),
            ("5", Level::TRACE),
        ] {
            check(&format!("--zap-log-level={name}"), auto, level, micros);
        }
        for (name, time) in [
            ("epoch", TimeFormat::Epoch),
            ("millis", TimeFormat::EpochMillis),
            ("nanos", TimeFormat::EpochNanos),
            ("iso8601", TimeFormat::Iso8601),
            ("rfc3339", TimeFormat::Rfc3339),
            ("RFC3339Nano", TimeFormat::Rfc3339Nanos),
        ] {
            check(&format!("--zap-time-encoding={name}"), auto, Level::INFO, time);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        for flags in ["--zap-log-level=0", "--zap-log-level=-1", "--zap-log-level=loud"] {
            assert!(parsed(flags).unwrap_err().contains("invalid log level"), "{flags}");
        }
        assert!(parsed("--zap-encoder=xml").is_err() && parsed("--zap-time-encoding=sundial").is_err());
    }
}

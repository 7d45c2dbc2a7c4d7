//! Where log lines go, which of them, and how they look.

use std::{
    env,
    ffi::OsStr,
    io::{self, IsTerminal},
};

use tracing_subscriber::{
    EnvFilter, fmt,
    layer::{Identity, SubscriberExt},
    util::SubscriberInitExt,
};
pub use tracing_subscriber::{Layer, Registry, filter::LevelFilter};

use super::{TimeFormat, json::JsonLines};

/// Logs to standard error, at `info` and above unless `RUST_LOG` says otherwise; at its first call. A subscriber that is installed already stays.
///
/// Lines are JSON in a pod, and for people elsewhere; coloured where a person is looking: on a terminal, unless `NO_COLOR` is set to anything but
/// nothing (<https://no-color.org>). [`init_with`] writes one of the two on request.
///
/// Without `RUST_LOG`, kube's own line about each failed request is left out: whoever sent the request reports it, and knows what it was for.
pub fn init() {
    init_with(&LogOptions::default());
}

/// As [`init`], at another level unless `RUST_LOG` says otherwise.
pub fn init_at(level: LevelFilter) {
    init_with(&LogOptions { level, ..LogOptions::default() });
}

/// As [`init`], as `options` say.
///
/// # Example: JSON, wherever it runs
///
/// ```
/// use kubewright::log::{LogFormat, LogOptions};
///
/// let mut options = LogOptions::default();
/// options.format = LogFormat::Json;
/// kubewright::log::init_with(&options);
/// ```
pub fn init_with(options: &LogOptions) {
    init_with_layer(options, Identity::new());
}

/// As [`init_with`]; `layer` hears of the same spans and events beside it.
///
/// # Example: traces for OpenTelemetry
///
/// Each reconcile is a span, so that a layer of `tracing-opentelemetry` makes a trace of it. How traces are sent is the author's choice of an exporter, and no
/// dependency of this crate: that for OTLP brings an HTTP client of its own.
///
/// ```text
/// let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().build()?;
/// let provider = opentelemetry_sdk::trace::SdkTracerProvider::builder().with_batch_exporter(exporter).build();
/// let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer("guestbook"));
/// kubewright::log::init_with_layer(&LogOptions::default(), traces);
/// ```
pub fn init_with_layer(options: &LogOptions, layer: impl Layer<Registry> + Send + Sync + 'static) {
    let lines = tracing_subscriber::registry().with(layer).with(filter(options.level));
    // A subscriber that the author has installed is the one that should stay.
    let _ = match options.format.settled(env::var_os(IN_A_POD).is_some()) {
        LogFormat::Text | LogFormat::Auto => {
            let coloured = coloured(io::stderr().is_terminal(), env::var_os("NO_COLOR").as_deref());
            lines
                .with(fmt::layer().with_timer(options.time).with_ansi(coloured).with_writer(io::stderr))
                .try_init()
        }
        LogFormat::Json => lines.with(JsonLines::new(io::stderr, options.time)).try_init(),
    };
}

/// How to log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LogOptions {
    /// The least important level that is written, unless `RUST_LOG` says otherwise. Default: `info`.
    pub level: LevelFilter,
    /// How a line looks. Default: [`LogFormat::Auto`].
    pub format: LogFormat,
    /// How times look. Default: RFC 3339 with microseconds.
    pub time: TimeFormat,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self { level: LevelFilter::INFO, format: LogFormat::default(), time: TimeFormat::default() }
    }
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LogFormat {
    /// JSON in a pod of a cluster, where programs read it; text elsewhere.
    #[default]
    Auto,
    /// For people.
    Text,
    /// One JSON object a line, with the fields of the event and of its spans side by side: `controller`, `namespace` and `name` are keys of
    /// their own, as in controller-runtime's production logs.
    ///
    /// # Differences from Go
    ///
    /// The keys of the line itself are `timestamp`, `level`, `target`, `message`, as `tracing` calls them; zap writes `ts` and `msg`.
    Json,
}

impl LogFormat {
    /// One of the other two.
    fn settled(self, in_a_pod: bool) -> Self {
        match self {
            Self::Auto if in_a_pod => Self::Json,
            Self::Auto => Self::Text,
            other => other,
        }
    }
}

fn filter(level: LevelFilter) -> EnvFilter {
    let wanted = env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let wanted = if wanted.is_empty() { format!("{level},{REPORTED_BY_CALLERS}=off") } else { wanted };
    EnvFilter::builder().with_default_directive(level.into()).parse_lossy(wanted)
}

/// Whether a person sees colours: escape codes in files and pipes are noise.
fn coloured(terminal: bool, no_color: Option<&OsStr>) -> bool {
    terminal && no_color.is_none_or(OsStr::is_empty)
}

/// What Kubernetes tells every container.
const IN_A_POD: &str = "KUBERNETES_SERVICE_HOST";
const REPORTED_BY_CALLERS: &str = "kube_client::client::builder";

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn colours_are_for_terminals_that_do_not_refuse_them() {
        for (terminal, no_color, expected) in [
            (true, None, true),
            (true, Some(""), true),
            (true, Some("1"), false),
            (true, Some("0"), false),
            (false, None, false),
            (false, Some("1"), false),
        ] {
            assert_eq!(
                coloured(terminal, no_color.map(OsStr::new)),
                expected,
                "terminal: {terminal}, NO_COLOR: {no_color:?}"
            );
        }
    }

    /// Logs in a process of its own, since a process has one subscriber, and gives back what it wrote.
    fn logged(format: &str, rust_log: Option<&str>) -> String {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "log::subscriber::tests::a_process_that_logs", "--ignored", "--nocapture"]);
        command
            .env_remove("NO_COLOR")
            .env_remove(IN_A_POD)
            .env_remove(EnvFilter::DEFAULT_ENV)
            .env("FORMAT", format);
        if let Some(rust_log) = rust_log {
            command.env(EnvFilter::DEFAULT_ENV, rust_log);
        }
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    }

    #[test]
    #[ignore = "the other half of `logged`"]
    fn a_process_that_logs() {
        match env::var("FORMAT").as_deref() {
            Ok("json") => init_with(&LogOptions { format: LogFormat::Json, ..LogOptions::default() }),
            Ok("layer") => init_with_layer(&LogOptions::default(), SpanNames),
            _ => init(),
        }
        tracing::info!(count = 3, "heard");
        let _told = (tracing::info_span!("reconcile").entered(), tracing::debug_span!("step").entered());
        tracing::debug!("whispered");
        tracing::error!(target: "kube_client::client::builder", "said by whoever asked");
    }

    /// Says what begins.
    struct SpanNames;

    impl Layer<Registry> for SpanNames {
        fn on_new_span(
            &self,
            attributes: &tracing::span::Attributes<'_>,
            _: &tracing::span::Id,
            _: tracing_subscriber::layer::Context<'_, Registry>,
        ) {
            eprintln!("{} begins", attributes.metadata().name());
        }
    }

    #[test]
    fn a_layer_of_ones_own_hears_what_passes_beside_the_lines() {
        let text = logged("layer", None);
        assert!(text.contains("heard count=3") && text.contains("reconcile begins"), "{text}");
        assert!(!text.contains("step begins"), "{text}");
    }

    #[test]
    fn lines_in_a_pipe_have_no_escape_codes() {
        let text = logged("text", None);
        assert!(text.contains("heard count=3") && !text.contains('\x1b'), "{text:?}");
    }

    #[test]
    fn in_a_pod_programs_read_unless_it_is_said_otherwise() {
        for (format, in_a_pod, expected) in [
            (LogFormat::Auto, true, LogFormat::Json),
            (LogFormat::Auto, false, LogFormat::Text),
            (LogFormat::Text, true, LogFormat::Text),
            (LogFormat::Json, false, LogFormat::Json),
        ] {
            assert_eq!(format.settled(in_a_pod), expected);
        }
    }

    #[test]
    fn json_is_written_on_request() {
        let text = logged("json", None);
        let line: serde_json::Value = serde_json::from_str(text.trim()).expect("one line of JSON");
        assert_eq!(
            (&line["message"], &line["count"], &line["level"]),
            (&"heard".into(), &3.into(), &"INFO".into())
        );
    }

    #[test]
    fn rust_log_decides_what_is_heard() {
        for (rust_log, expected) in [
            (None, ["heard"].as_slice()),
            (Some("debug"), &["heard", "whispered", "said by"]),
            (Some("kubewright=debug"), &["heard", "whispered"]),
            (Some("off,kubewright=info"), &["heard"]),
            (Some("warn"), &["said by"]),
        ] {
            let text = logged("text", rust_log);
            let heard: Vec<_> =
                ["heard", "whispered", "said by"].into_iter().filter(|word| text.contains(word)).collect();
            assert_eq!(heard, expected, "RUST_LOG={rust_log:?}: {text}");
        }
    }
}

//! Logs for people.

use tracing_subscriber::EnvFilter;
pub use tracing_subscriber::filter::LevelFilter;

/// Logs to standard error, at `info` and above unless `RUST_LOG` says otherwise; at its first call. A subscriber that is installed already stays.
pub fn init() {
    init_at(LevelFilter::INFO);
}

/// As [`init`], at another level unless `RUST_LOG` says otherwise.
pub fn init_at(level: LevelFilter) {
    let filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    // A subscriber that the author has installed is the one that should stay.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}

/// An error and its causes in one line.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |chain, cause| format!("{chain}: {cause}"))
}

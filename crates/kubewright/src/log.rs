//! Logs for people.

use tracing_subscriber::EnvFilter;
pub use tracing_subscriber::filter::LevelFilter;

/// Logs to standard error, at `info` and above unless `RUST_LOG` says otherwise; at its first call. A subscriber that is installed already stays.
///
/// Without `RUST_LOG`, kube's own line about each failed request is left out: whoever sent the request reports it, and knows what it was for.
pub fn init() {
    init_at(LevelFilter::INFO);
}

/// As [`init`], at another level unless `RUST_LOG` says otherwise.
pub fn init_at(level: LevelFilter) {
    let wanted = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let wanted = if wanted.is_empty() { format!("{level},{REPORTED_BY_CALLERS}=off") } else { wanted };
    let filter = EnvFilter::builder().with_default_directive(level.into()).parse_lossy(wanted);
    // A subscriber that the author has installed is the one that should stay.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}

const REPORTED_BY_CALLERS: &str = "kube_client::client::builder";

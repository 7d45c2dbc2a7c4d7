//! Logs for people.

use tracing_subscriber::{EnvFilter, filter::LevelFilter};

/// Logs to standard error, at `info` and above unless `RUST_LOG` says otherwise; at its first call. A subscriber that is installed already stays.
pub fn init() {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env_lossy();
    // A subscriber that the author has installed is the one that should stay.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}

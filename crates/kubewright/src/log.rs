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

/// An error and its causes in one line. A cause that its error has quoted at the end is not said again.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |chain, cause| {
        let cause = cause.to_string();
        if chain.ends_with(&cause) { chain } else { format!("{chain}: {cause}") }
    })
}

const REPORTED_BY_CALLERS: &str = "kube_client::client::builder";

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: &'static str,
        source: Option<Box<Link>>,
    }

    fn chain(texts: &[&'static str]) -> String {
        let (text, causes) = texts.split_first().unwrap();
        let source = causes.iter().rev().fold(None, |source, text| Some(Box::new(Link { text, source })));
        error_chain(&Link { text, source })
    }

    #[test]
    fn a_cause_is_said_once() {
        assert_eq!(chain(&["refused"]), "refused");
        assert_eq!(chain(&["failed to get x", "refused", "port 1"]), "failed to get x: refused: port 1");
        assert_eq!(
            chain(&["failed to get x: refused", "refused", "port 1"]),
            "failed to get x: refused: port 1"
        );
        assert_eq!(chain(&["refused twice", "refused"]), "refused twice: refused");
    }
}

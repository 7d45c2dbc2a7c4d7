//! Errors that another try does not mend.

use std::fmt;

use crate::BoxError;

/// An error after which the request is not requeued: only a change of the object, or of something that it depends on, helps.
///
/// A worker finds it anywhere in the chain of an error's sources.
///
/// # Example: an object that can never be reconciled as it is
/// ```
/// use kubewright::{BoxError, reconcile::TerminalError};
///
/// fn check(replicas: i32) -> Result<i32, BoxError> {
///     if replicas < 0 { Err(TerminalError::new("spec.replicas is negative").into()) } else { Ok(replicas) }
/// }
/// assert!(TerminalError::is_in_chain(check(-1).unwrap_err().as_ref()));
/// ```
///
/// Source: controller-runtime `reconcile.TerminalError`.
#[derive(Debug)]
pub struct TerminalError {
    source: BoxError,
}

impl TerminalError {
    /// Marks `error` as terminal.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self { source: error.into() }
    }

    /// Whether `error`, or one of its sources, is terminal.
    pub fn is_in_chain(error: &(dyn std::error::Error + 'static)) -> bool {
        std::iter::successors(Some(error), |error| error.source()).any(<dyn std::error::Error>::is::<Self>)
    }
}

impl fmt::Display for TerminalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("terminal error")
    }
}

impl std::error::Error for TerminalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.source.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] BoxError);

    #[test]
    fn a_terminal_error_is_found_under_other_errors() {
        let wrapped = Outer(TerminalError::new("inner").into());
        assert!(TerminalError::is_in_chain(&wrapped));
        assert!(!TerminalError::is_in_chain(&Outer("plain".into())));
        let chain: Vec<_> = std::iter::successors(wrapped.source(), |error| (*error).source())
            .map(ToString::to_string)
            .collect();
        assert_eq!(chain, ["terminal error", "inner"]);
    }
}

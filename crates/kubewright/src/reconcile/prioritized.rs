//! Errors that say how soon their request should be tried again.

use std::fmt;

use crate::BoxError;

/// An error whose request is requeued with another priority than the one it was handed out with.
///
/// A worker finds it anywhere in the chain of an error's sources.
///
/// Source: controller-runtime `reconcile.Result.Priority`, which upstream reads beside an error, too.
///
/// # Example: a failure that may wait until everything else is done
/// ```
/// use kubewright::{BoxError, reconcile::PrioritizedError};
///
/// fn try_it() -> Result<(), BoxError> {
///     Err(PrioritizedError::new("the quota is used up", -50).into())
/// }
/// assert_eq!(PrioritizedError::priority_in_chain(try_it().unwrap_err().as_ref()), Some(-50));
/// ```
#[derive(Debug)]
pub struct PrioritizedError {
    error: BoxError,
    priority: i32,
}

impl PrioritizedError {
    /// Gives `error` a priority; higher runs sooner.
    pub fn new(error: impl Into<BoxError>, priority: i32) -> Self {
        Self { error: error.into(), priority }
    }

    /// The priority of the first prioritized error in the chain of `error`.
    pub fn priority_in_chain(error: &(dyn std::error::Error + 'static)) -> Option<i32> {
        let mut chain = std::iter::successors(Some(error), |error| error.source());
        chain.find_map(|error| error.downcast_ref::<Self>()).map(|prioritized| prioritized.priority)
    }
}

impl fmt::Display for PrioritizedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed with priority {}", self.priority)
    }
}

impl std::error::Error for PrioritizedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.error.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconcile::TerminalError;

    #[test]
    fn what_a_prioritized_error_carries_is_in_its_chain() {
        let error = PrioritizedError::new(TerminalError::new("never"), 7);
        assert!(TerminalError::is_in_chain(&error));
        assert_eq!(PrioritizedError::priority_in_chain(&TerminalError::new(error)), Some(7));
    }
}

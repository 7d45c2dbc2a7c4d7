//! What becomes of a request after its reconcile. Pure: knows the queue's words, and no tasks.

use std::time::Duration;

use crate::{
    BoxError,
    reconcile::{Action, PrioritizedError, TerminalError},
};

/// How a reconcile ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It returned.
    Done(Action),
    /// It returned an error.
    Failed(BoxError),
    /// It panicked, with this message.
    Panicked(String),
    /// It was dropped after this time.
    TimedOut(Duration),
}

/// What to do with the request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The failures so far are forgotten.
    pub(super) forget: bool,
    /// When the request comes back, if by itself at all.
    pub(super) requeue: Requeue,
}

/// When a request comes back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Requeue {
    /// When something changes.
    No,
    /// When the rate limiter allows.
    RateLimited,
    /// After a time.
    After(Duration),
}

impl Outcome {
    /// Source: controller-runtime `internal/controller.Controller.reconcileHandler`.
    pub(super) fn verdict(&self) -> Verdict {
        match self {
            Self::Done(action) => {
                Verdict { forget: true, requeue: action.requeue_after().map_or(Requeue::No, Requeue::After) }
            }
            // The failures stay counted: the next ordinary error goes on from there.
            Self::Failed(error) if TerminalError::is_in_chain(error.as_ref()) => {
                Verdict { forget: false, requeue: Requeue::No }
            }
            Self::Failed(_) | Self::Panicked(_) | Self::TimedOut(_) => {
                Verdict { forget: false, requeue: Requeue::RateLimited }
            }
        }
    }

    /// The priority that the reconciler asked for.
    pub(super) fn priority(&self) -> Option<i32> {
        match self {
            Self::Done(action) => action.priority(),
            Self::Failed(error) => PrioritizedError::priority_in_chain(error.as_ref()),
            Self::Panicked(_) | Self::TimedOut(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(outcome: &Outcome, forget: bool, requeue: Requeue) {
        assert_eq!(outcome.verdict(), Verdict { forget, requeue });
    }

    #[test]
    fn every_outcome_has_its_place() {
        let minute = Duration::from_secs(60);
        check(&Outcome::Done(Action::await_change()), true, Requeue::No);
        check(&Outcome::Done(Action::requeue(minute)), true, Requeue::After(minute));
        check(&Outcome::Done(Action::requeue(Duration::ZERO)), true, Requeue::After(Duration::ZERO));
        check(&Outcome::Failed("no".into()), false, Requeue::RateLimited);
        check(&Outcome::Failed(TerminalError::new("never").into()), false, Requeue::No);
        check(&Outcome::Panicked("oh".into()), false, Requeue::RateLimited);
        check(&Outcome::TimedOut(minute), false, Requeue::RateLimited);
    }
}

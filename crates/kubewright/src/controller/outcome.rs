//! What becomes of a request after its reconcile. Pure: knows the queue's words, and no tasks.

use std::time::Duration;

use crate::{
    BoxError,
    client::ClientError,
    error,
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

    /// Says what went wrong, if anything did, and when the request is tried again: `None` means not before something changes.
    ///
    /// A conflict is an everyday thing between two writers, mended by the next try: it is no error to look at.
    pub(super) fn log(&self, retry_in: Option<Duration>) {
        let retry_in = retry_in.map(tracing::field::debug);
        match self {
            Self::Done(_) => {}
            Self::Failed(error) if is_conflict(error.as_ref()) => {
                tracing::info!(error = error::chain(error.as_ref()), retry_in, "reconciler met a conflict");
            }
            Self::Failed(error) => {
                tracing::error!(error = error::chain(error.as_ref()), retry_in, "reconciler error");
            }
            Self::Panicked(message) => tracing::error!(message, retry_in, "reconciler panicked"),
            Self::TimedOut(timeout) => tracing::error!(?timeout, retry_in, "reconciler timed out"),
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

/// Whether a write, somewhere in the chain, met a newer version of its object.
fn is_conflict(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut chain = std::iter::successors(Some(error), |error| error.source());
    chain.any(|error| {
        let of_kube = error
            .downcast_ref()
            .is_some_and(|error| matches!(error, kube::Error::Api(status) if status.is_conflict()));
        of_kube || error.downcast_ref().is_some_and(ClientError::is_conflict)
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::Status;

    use super::*;
    use crate::object::Kind;

    #[track_caller]
    fn check(outcome: &Outcome, forget: bool, requeue: Requeue) {
        assert_eq!(outcome.verdict(), Verdict { forget, requeue });
    }

    #[test]
    fn what_an_error_is_can_be_asked_of_any_wrapping() {
        let terminal = || TerminalError::new("never");
        for error in [
            terminal().into(),
            error::boxed(anyhow::Error::from(terminal())),
            error::boxed(anyhow::Error::from(terminal()).context("while trying")),
            error::boxed(PrioritizedError::new(terminal(), 1)),
        ] {
            check(&Outcome::Failed(error), false, Requeue::No);
        }
        assert_eq!(error::boxed(anyhow::anyhow!("plain")).to_string(), "plain");
        assert_eq!(error::boxed("plain").to_string(), "plain");
    }

    #[test]
    fn a_conflict_is_told_from_other_errors_wherever_it_stands() {
        let status = |reason: &str| Box::new(Status::failure("the words", reason).with_code(409));
        let ours = |reason| ClientError::Api {
            verb: "update",
            kind: Kind::of::<ConfigMap>(),
            key: "default/a".to_owned(),
            source: status(reason),
        };
        for (error, expected) in [
            (error::boxed(ours("Conflict")), true),
            (error::boxed(anyhow::Error::from(ours("Conflict")).context("while trying")), true),
            (error::boxed(kube::Error::Api(status("Conflict"))), true),
            (error::boxed(ours("AlreadyExists")), false),
            (error::boxed("conflict"), false),
        ] {
            assert_eq!(is_conflict(error.as_ref()), expected, "{error}");
        }
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

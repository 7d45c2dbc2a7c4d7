//! One webhook's answer, and what it means if there is none.

use super::{
    attributes::Attributes,
    hook::{FailurePolicy, Hook},
    review::{Answer, Question},
};
use crate::{error::Status, kind::Kind, object::Object};

/// Why a request does not pass a webhook.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The webhook says so, or could not be asked about this request.
    Denied(Status),
    /// There is no answer, or one that says nothing. What that means is for the failure policy.
    NoAnswer(String),
}

impl Refusal {
    /// Nothing, if the webhook's failures are to be ignored and this is one.
    pub(super) fn or_ignored(self, hook: &Hook) -> Result<(), Status> {
        match (self, hook.failure_policy) {
            (Self::Denied(status), _) => Err(status),
            (Self::NoAnswer(reason), FailurePolicy::Ignore) => {
                tracing::warn!(webhook = hook.name, reason, "failed to call a webhook, which is ignored");
                Ok(())
            }
            (Self::NoAnswer(reason), FailurePolicy::Fail) => {
                Err(Status::internal_error(format!("failed calling webhook {:?}: {reason}", hook.name)))
            }
        }
    }
}

/// Asks a webhook as if the request were made for `kind`.
pub(super) async fn ask(
    attributes: &Attributes<'_>,
    hook: &Hook,
    kind: &Kind,
    old: Option<&Object>,
    new: Option<&Object>,
    may_patch: bool,
) -> Result<Answer, Refusal> {
    if attributes.dry_run && !hook.takes_dry_runs {
        let text = format!("admission webhook {:?} does not support dry run", hook.name);
        return Err(Refusal::Denied(Status::bad_request(text)));
    }
    let question = Question::new(attributes, hook, kind, old, new).await.map_err(Refusal::Denied)?;
    let body = question.body.to_string().into_bytes();
    let answered = attributes.admission.caller.ask(&hook.endpoint, body).await;
    let answered =
        answered.map_err(|reason| Refusal::NoAnswer(format!("failed to call webhook: {reason}")))?;
    let answer = Answer::read(&answered, &question.uid, hook.review_version, may_patch)
        .map_err(|reason| Refusal::NoAnswer(format!("received invalid webhook response: {reason}")))?;
    for warning in &answer.warnings {
        attributes.context.warnings.add(warning);
    }
    if answer.allowed { Ok(answer) } else { Err(Refusal::Denied(answer.refusal(&hook.name))) }
}

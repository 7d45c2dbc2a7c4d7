//! What the fault plan has in mind.

use tokio::time::sleep;

use super::{
    asked::Asked,
    filter::{Answer, Filter, Next},
};
use crate::{door::ServiceError, fault::Faults, wire::json_response};

/// Does to a request what the fault plan says.
#[derive(Debug, Clone)]
pub(in crate::door) struct FaultPlan(pub(in crate::door) Faults);

impl<S: Next<Asked>> Filter<Asked, S> for FaultPlan {
    async fn pass(self, mut asked: Asked, mut next: S) -> Answer {
        let verdict = self.0.judge(&asked.context.info);
        if !verdict.delay.is_zero() {
            sleep(verdict.delay).await;
        }
        if verdict.unreachable {
            return Err(ServiceError::Unreachable);
        }
        if let Some(status) = &verdict.respond {
            return Ok(json_response(status));
        }
        let lose_answer = verdict.lose_answer;
        asked.verdict = verdict;
        let response = next.call(asked).await?;
        if lose_answer { Err(ServiceError::AnswerLost) } else { Ok(response) }
    }
}

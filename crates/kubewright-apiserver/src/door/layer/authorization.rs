//! Whether somebody may do what he asks for.

use std::sync::Arc;

use super::{
    asked::Asked,
    filter::{Answer, Filter, Next},
};
use crate::{
    auth::{Authorizer, Decision, forbidden},
    wire::json_response,
};

/// Asks the authorizer of the server.
///
/// Source: apiserver `endpoints/filters.WithAuthorization`.
#[derive(Debug, Clone)]
pub(in crate::door) struct Authorization(pub(in crate::door) Arc<dyn Authorizer>);

impl<S: Next<Asked>> Filter<Asked, S> for Authorization {
    async fn pass(self, asked: Asked, mut next: S) -> Answer {
        let (user, info) = (&asked.context.user, &asked.context.info);
        match self.0.authorize(user, info) {
            Decision::Allow => next.call(asked).await,
            Decision::Deny { reason } => Ok(json_response(&forbidden(user, info, &reason))),
        }
    }
}

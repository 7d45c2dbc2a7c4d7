//! In whose name somebody asks.

use http::HeaderMap;

use super::{
    asked::Asked,
    filter::{Answer, Filter, Next},
};
use crate::{context::ResourceInfo, error::Status, wire::json_response};

/// Nobody acts in the name of somebody else here, and who asks for it must not act in his own instead.
///
/// Source: apiserver `endpoints/filters.WithImpersonation`.
#[derive(Debug, Clone)]
pub(in crate::door) struct Impersonation;

impl<S: Next<Asked>> Filter<Asked, S> for Impersonation {
    async fn pass(self, asked: Asked, mut next: S) -> Answer {
        match refuse(&asked.headers) {
            Ok(()) => next.call(asked).await,
            Err(status) => Ok(json_response(&status)),
        }
    }
}

/// # Errors
/// 403 for a request with one of the headers of impersonation.
fn refuse(headers: &HeaderMap) -> Result<(), Status> {
    let asks = headers.keys().any(|name| name.as_str().starts_with("impersonate-"));
    if !asks {
        return Ok(());
    }
    let user = headers.get("impersonate-user").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let cause = "cannot impersonate resource \"users\" in API group \"\" at the cluster scope: this server does not impersonate";
    let users = ResourceInfo { resource: "users".into(), ..ResourceInfo::default() };
    Err(Status::forbidden(&users, user, cause))
}

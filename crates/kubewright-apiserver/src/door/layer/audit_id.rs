//! What an answer calls its request.

use std::sync::Arc;

use http::HeaderValue;

use super::filter::{Answer, Filter, Next};
use crate::identity::Identity;

/// Gives every answer a name for its request.
///
/// Source: apiserver `endpoints/filters.WithAuditInit`.
#[derive(Debug, Clone)]
pub(in crate::door) struct AuditId(pub(in crate::door) Arc<Identity>);

impl<R: Send + 'static, S: Next<R>> Filter<R, S> for AuditId {
    async fn pass(self, request: R, mut next: S) -> Answer {
        let audit_id = HeaderValue::try_from(self.0.audit_id());
        let mut response = next.call(request).await?;
        if let Ok(audit_id) = audit_id {
            response.headers_mut().insert("audit-id", audit_id);
        }
        Ok(response)
    }
}

//! What the client is told beside the answer.

use http::header;

use super::{
    asked::Asked,
    filter::{Answer, Filter, Next},
};

/// Adds the warnings of a request to its answer.
///
/// Source: apiserver `endpoints/filters.WithWarningRecorder`.
#[derive(Debug, Clone)]
pub(in crate::door) struct WarningHeaders;

impl<S: Next<Asked>> Filter<Asked, S> for WarningHeaders {
    async fn pass(self, asked: Asked, mut next: S) -> Answer {
        let warnings = asked.context.warnings.clone();
        let mut response = next.call(asked).await?;
        for warning in warnings.headers() {
            response.headers_mut().append(header::WARNING, warning);
        }
        Ok(response)
    }
}

//! How long a request may take.

use std::time::Duration;

use tokio::time::timeout;

use super::{
    asked::Asked,
    filter::{Answer, Filter, Next},
};
use crate::{error::Status, wire::json_response};

/// Gives up a request that takes too long, be it that its body does not come or that a webhook does not answer.
/// What the fault plan delays is on the road for so long, and no time of ours.
///
/// The frames of a watch come after its answer has begun, and take as long as they like.
///
/// # Differences from Go
/// A shorter time that a client asks for with `timeout` is for the client to keep.
///
/// Source: apiserver `endpoints/filters.WithRequestDeadline`, `filters.WithTimeoutForNonLongRunningRequests`.
#[derive(Debug, Clone)]
pub(in crate::door) struct Deadline;

impl<S: Next<Asked>> Filter<Asked, S> for Deadline {
    async fn pass(self, asked: Asked, mut next: S) -> Answer {
        timeout(REQUEST_TIMEOUT, next.call(asked)).await.unwrap_or_else(|_| {
            let status = Status::timeout("request did not complete within the allotted timeout");
            Ok(json_response(&status))
        })
    }
}

/// Source: apiserver `--request-timeout`.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

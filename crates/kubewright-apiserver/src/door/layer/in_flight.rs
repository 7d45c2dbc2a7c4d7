//! How many requests are handled at once.

use std::sync::Arc;

use http::{HeaderValue, Response, StatusCode, header};
use tokio::sync::Semaphore;

use super::{
    asked::Asked,
    filter::{Answer, Filter, Next},
};
use crate::{
    context::{RequestInfo, Verb},
    wire::{Body, text_response},
};

/// How many requests are handled at once. Watches, which take no time of their own, do not count.
///
/// # Differences from Go
/// Upstream lets requests wait in fair queues before it refuses any.
///
/// Source: apiserver `filters.WithMaxInFlightLimit`.
#[derive(Debug, Clone)]
pub(in crate::door) struct InFlight {
    reading: Arc<Semaphore>,
    writing: Arc<Semaphore>,
}

impl InFlight {
    /// For a door at which strangers may ask for more than there is time for.
    ///
    /// Source: apiserver `--max-requests-inflight`, `--max-mutating-requests-inflight`.
    pub(in crate::door) fn limited() -> Self {
        Self::new(400, 200)
    }

    /// For a door at which whoever asks limits himself.
    pub(in crate::door) fn unlimited() -> Self {
        Self::new(Semaphore::MAX_PERMITS, Semaphore::MAX_PERMITS)
    }

    fn new(reading: usize, writing: usize) -> Self {
        Self { reading: Arc::new(Semaphore::new(reading)), writing: Arc::new(Semaphore::new(writing)) }
    }

    /// The requests that one counts among; `None` if it does not count.
    fn slots(&self, info: &RequestInfo) -> Option<&Semaphore> {
        match info.verb {
            Verb::Watch => None,
            Verb::Get | Verb::List => Some(&self.reading),
            _ => Some(&self.writing),
        }
    }
}

impl<S: Next<Asked>> Filter<Asked, S> for InFlight {
    async fn pass(self, asked: Asked, mut next: S) -> Answer {
        let Some(slots) = self.slots(&asked.context.info) else { return next.call(asked).await };
        let Ok(_until_answered) = slots.try_acquire() else { return Ok(too_many_requests()) };
        next.call(asked).await
    }
}

/// Source: apiserver `filters.tooManyRequests`.
fn too_many_requests() -> Response<Body> {
    let text = "Too many requests, please try again later.\n";
    let mut response = text_response(StatusCode::TOO_MANY_REQUESTS, text);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::context::Query;

    #[test]
    fn reads_and_writes_are_limited_apart_and_watches_are_not() {
        let limit = InFlight::new(1, 1);
        let admit = |method: Method, query: &str| {
            let info = RequestInfo::read(&method, "/api/v1/pods", &Query::parse(Some(query)));
            limit.slots(&info).map(|slots| slots.try_acquire().ok())
        };
        let (read, write) = (admit(Method::GET, ""), admit(Method::POST, ""));
        assert!(read.as_ref().is_some_and(Option::is_some) && write.as_ref().is_some_and(Option::is_some));
        assert!(admit(Method::GET, "").unwrap().is_none() && admit(Method::DELETE, "").unwrap().is_none());
        assert!(admit(Method::GET, "watch=1").is_none());
        drop(read);
        assert!(admit(Method::GET, "").unwrap().is_some() && admit(Method::PATCH, "").unwrap().is_none());
    }
}

//! How many requests are handled at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::wire::{RequestInfo, Verb};

/// How many requests are handled at once. Watches, which take no time of their own, do not count.
///
/// # Differences from Go
/// Upstream lets requests wait in fair queues before it refuses any.
///
/// Source: apiserver `filters.WithMaxInFlightLimit`.
#[derive(Debug, Clone)]
pub(super) struct InFlight {
    reading: Arc<Semaphore>,
    writing: Arc<Semaphore>,
}

/// A request that is being handled.
#[derive(Debug)]
pub(super) struct Admitted {
    _permit: Option<OwnedSemaphorePermit>,
}

impl InFlight {
    /// Source: apiserver `--max-requests-inflight`, `--max-mutating-requests-inflight`.
    pub(super) fn with_defaults() -> Self {
        Self { reading: Arc::new(Semaphore::new(400)), writing: Arc::new(Semaphore::new(200)) }
    }

    /// Admits a request for as long as the answer is kept; `None` when there are too many.
    pub(super) fn admit(&self, info: &RequestInfo) -> Option<Admitted> {
        let slots = match info.verb {
            Verb::Watch => return Some(Admitted { _permit: None }),
            Verb::Get | Verb::List => &self.reading,
            _ => &self.writing,
        };
        slots.clone().try_acquire_owned().ok().map(|permit| Admitted { _permit: Some(permit) })
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::wire::Query;

    #[test]
    fn reads_and_writes_are_limited_apart_and_watches_are_not() {
        let limit = InFlight { reading: Arc::new(Semaphore::new(1)), writing: Arc::new(Semaphore::new(1)) };
        let admit = |method: Method, query: &str| {
            limit.admit(&RequestInfo::read(&method, "/api/v1/pods", &Query::parse(Some(query))))
        };
        let (read, write) = (admit(Method::GET, ""), admit(Method::POST, ""));
        assert!(read.is_some() && write.is_some());
        assert!(admit(Method::GET, "").is_none() && admit(Method::DELETE, "").is_none());
        assert!(admit(Method::GET, "watch=1").is_some());
        drop(read);
        assert!(admit(Method::GET, "").is_some() && admit(Method::PATCH, "").is_none());
    }
}

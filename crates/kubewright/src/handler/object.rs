//! The object itself.

use super::{EventHandler, Requests};
use crate::{event::Event, reconcile::Request};

/// Enqueues the key of the object that the event is about.
///
/// Source: controller-runtime `handler.EnqueueRequestForObject`.
pub fn enqueue_request_for_object() -> EnqueueRequestForObject {
    EnqueueRequestForObject {}
}

/// See [`enqueue_request_for_object`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EnqueueRequestForObject {}

impl<K: Send + Sync + 'static> EventHandler<K> for EnqueueRequestForObject {
    fn handle(&self, event: &Event<K>, requests: &Requests<'_, Request>) -> impl Future<Output = ()> + Send {
        requests.add(event.object().key().clone());
        std::future::ready(())
    }
}

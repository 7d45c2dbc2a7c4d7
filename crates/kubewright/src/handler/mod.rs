//! Which requests an event becomes.

mod mapped;
mod object;
mod owner;
mod requests;

pub use mapped::{
    Mapped, MappedAsync, TryMapped, TryMappedAsync, enqueue_mapped, enqueue_mapped_async, try_enqueue_mapped,
    try_enqueue_mapped_async,
};
pub use object::{EnqueueRequestForObject, enqueue_request_for_object};
pub use owner::{
    EnqueueRequestForOwner, OwnerRequests, enqueue_request_for_owner, enqueue_request_for_owner_of_kind,
};
pub use requests::{LOW_PRIORITY, Requests};

use std::pin::Pin;

use crate::{
    event::Event,
    reconcile::{Request, RequestType},
};

/// Turns events of objects `K` into requests `R`.
///
/// A closure `Fn(&Event<K>, &Requests<'_, R>)` is a handler.
///
/// Handlers of one watch see its events one after the other, in order. A handler that waits (for a cached list, say) delays the events
/// behind it, of this watch alone. One that fails says so with [`Requests::fail`]; one that panics is logged, and its event comes again as if it had
/// said so.
///
/// Source: controller-runtime `handler.TypedEventHandler`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not turn events of `{K}` into requests `{R}`",
    note = "a mapping function that returns a `Result` goes into `handler::try_enqueue_mapped` or `try_enqueue_mapped_async`"
)]
pub trait EventHandler<K, R: RequestType = Request>: Send + Sync + 'static {
    /// Puts what should be reconciled because of `event` into `requests`.
    fn handle(&self, event: &Event<K>, requests: &Requests<'_, R>) -> impl Future<Output = ()> + Send;
}

impl<K, R, F> EventHandler<K, R> for F
where
    K: 'static,
    R: RequestType,
    F: Fn(&Event<K>, &Requests<'_, R>) + Send + Sync + 'static,
{
    fn handle(&self, event: &Event<K>, requests: &Requests<'_, R>) -> impl Future<Output = ()> + Send {
        self(event, requests);
        std::future::ready(())
    }
}

/// [`EventHandler`] as a value.
pub(crate) trait DynEventHandler<K, R: RequestType>: Send + Sync + 'static {
    fn handle<'a>(
        &'a self,
        event: &'a Event<K>,
        requests: &'a Requests<'a, R>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

impl<K: 'static, R: RequestType, T: EventHandler<K, R>> DynEventHandler<K, R> for T {
    fn handle<'a>(
        &'a self,
        event: &'a Event<K>,
        requests: &'a Requests<'a, R>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(EventHandler::handle(self, event, requests))
    }
}

//! Events and requests from a channel: from a webhook, a message bus, another part of the process.

use std::{borrow::Cow, fmt, sync::Arc};

use kube::Resource;
use tokio::sync::mpsc;

use super::{Source, SourceContext, delivery::Delivery, waiting::Waiting};
use crate::{
    BoxError,
    event::Event,
    handler::{DynEventHandler, EventHandler},
    object::View,
    predicate::Predicate,
    reconcile::RequestType,
    workqueue::Queue,
};

/// Hands every object that `receiver` gives to `handler`, as a [`Generic`](Event::Generic) event.
///
/// The channel's own bound is the back-pressure: while the handler is at work and the channel is full, senders wait. The queue behind it
/// never makes anybody wait. Events that the handler could not handle wait beside the channel for their next try; while those of 1024 objects do,
/// nothing is taken out of it. The source ends when all senders are gone and no event waits for another try.
///
/// Source: controller-runtime `source.TypedChannel`.
///
/// # Differences from Go
/// There is no buffer of 1024 events between the channel and the handler: the channel has a bound of its own. A channel feeds one source; for
/// several, clone the object into several channels. What is sent is an object of Kubernetes; for other things there is [`requests`].
///
/// # Example: look at an object because something outside the cluster says so
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright::{handler, reconcile::Request, source};
///
/// // Eight nudges may wait; whoever sends a ninth waits itself.
/// let (nudges, receiver) = tokio::sync::mpsc::channel::<ConfigMap>(8);
/// let source: source::Channel<_, Request> = source::channel(receiver, handler::enqueue_request_for_object());
/// # drop(nudges);
/// ```
pub fn channel<K: View + Resource, R: RequestType>(
    receiver: mpsc::Receiver<K>,
    handler: impl EventHandler<K, R>,
) -> Channel<K, R> {
    Channel { receiver, handler: Box::new(handler), predicates: Vec::new() }
}

/// Enqueues every request that `receiver` gives.
///
/// For whatever is no object of Kubernetes: the sender says what should be reconciled. Back-pressure and end are those of [`channel`].
pub fn requests<R: RequestType>(receiver: mpsc::Receiver<R>) -> RequestChannel<R> {
    RequestChannel { receiver }
}

/// See [`channel`].
pub struct Channel<K, R: RequestType> {
    receiver: mpsc::Receiver<K>,
    handler: Box<dyn DynEventHandler<K, R>>,
    predicates: Vec<Box<dyn Predicate<K>>>,
}

impl<K: View + Resource, R: RequestType> Channel<K, R> {
    /// Hands on only what `predicate` passes, and all others that were given.
    #[must_use]
    pub fn with_predicate(mut self, predicate: impl Predicate<K>) -> Self {
        self.predicates.push(Box::new(predicate));
        self
    }
}

impl<K: View + Resource, R: RequestType> Source<R> for Channel<K, R> {
    async fn start(mut self, context: SourceContext, queue: Queue<R>) -> Result<(), BoxError> {
        let mut delivery = Delivery {
            source: Source::<R>::name(&self),
            filters: Vec::new(),
            predicates: self.predicates,
            handler: self.handler,
            queue,
            context: context.clone(),
            waiting: Waiting::new(),
        };
        context.spawn(async move {
            let mut open = true;
            while open || delivery.is_waiting() {
                tokio::select! {
                    object = self.receiver.recv(), if open && !delivery.is_full() => match object {
                        Some(object) => delivery.deliver(Event::Generic { object: Arc::new(object).into() }).await,
                        None => open = false,
                    },
                    () = delivery.due() => delivery.retry().await,
                }
            }
        });
        Ok(())
    }

    fn name(&self) -> Cow<'static, str> {
        "channel source".into()
    }
}

impl<K, R: RequestType> fmt::Debug for Channel<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("predicates", &self.predicates.len()).finish_non_exhaustive()
    }
}

/// See [`requests`].
#[derive(Debug)]
pub struct RequestChannel<R> {
    receiver: mpsc::Receiver<R>,
}

impl<R: RequestType> Source<R> for RequestChannel<R> {
    async fn start(mut self, context: SourceContext, queue: Queue<R>) -> Result<(), BoxError> {
        context.spawn(async move {
            while let Some(request) = self.receiver.recv().await {
                queue.add(request);
            }
        });
        Ok(())
    }

    fn name(&self) -> Cow<'static, str> {
        "request channel source".into()
    }
}

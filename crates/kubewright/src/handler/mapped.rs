//! Whatever a function of the object says.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{EventHandler, Requests};
use crate::{
    event::{Event, Observed},
    object::View,
    reconcile::RequestType,
};

/// Enqueues what `map` makes of the object; for an update, of its old state and its new one. Requests of one event are deduplicated.
///
/// An object that does not decode as a `K` is logged and enqueues nothing.
///
/// Source: controller-runtime `handler.EnqueueRequestsFromMapFunc`.
///
/// # Example: the object that an annotation names
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright::{handler, reconcile::Request};
///
/// fn guestbook_of(config: &ConfigMap) -> Option<Request> {
///     let name = config.metadata.annotations.as_ref()?.get("example.com/guestbook")?;
///     Some(Request::of(config).sibling(name))
/// }
/// let handler = handler::enqueue_mapped(guestbook_of);
/// ```
pub fn enqueue_mapped<K, R, I, F>(map: F) -> Mapped<K, F>
where
    I: IntoIterator<Item = R>,
    F: Fn(&K) -> I + Send + Sync + 'static,
{
    Mapped { map, object: PhantomData }
}

/// As [`enqueue_mapped`], with a function that may wait: for a cached list, say.
pub fn enqueue_mapped_async<K, R, I, Fut, F>(map: F) -> MappedAsync<K, F>
where
    I: IntoIterator<Item = R>,
    Fut: Future<Output = I> + Send,
    F: Fn(Arc<K>) -> Fut + Send + Sync + 'static,
{
    MappedAsync { map, object: PhantomData }
}

/// See [`enqueue_mapped`].
pub struct Mapped<K, F> {
    map: F,
    object: PhantomData<fn(&K)>,
}

/// See [`enqueue_mapped_async`].
pub struct MappedAsync<K, F> {
    map: F,
    object: PhantomData<fn(&K)>,
}

impl<K, F> fmt::Debug for Mapped<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mapped")
    }
}

impl<K, F> fmt::Debug for MappedAsync<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MappedAsync")
    }
}

impl<K, R, I, F> EventHandler<K, R> for Mapped<K, F>
where
    K: View,
    R: RequestType,
    I: IntoIterator<Item = R>,
    F: Fn(&K) -> I + Send + Sync + 'static,
{
    fn handle(&self, event: &Event<K>, requests: &Requests<'_, R>) -> impl Future<Output = ()> + Send {
        requests.add_all(deduplicated(states(event).flat_map(|object| (self.map)(&object))));
        std::future::ready(())
    }
}

impl<K, R, I, Fut, F> EventHandler<K, R> for MappedAsync<K, F>
where
    K: View,
    R: RequestType,
    I: IntoIterator<Item = R>,
    Fut: Future<Output = I> + Send,
    F: Fn(Arc<K>) -> Fut + Send + Sync + 'static,
{
    async fn handle(&self, event: &Event<K>, requests: &Requests<'_, R>) {
        let mut found: Vec<R> = Vec::new();
        for object in states(event) {
            let mapped = (self.map)(object).await;
            found.extend(mapped);
        }
        requests.add_all(deduplicated(found));
    }
}

/// The old state and the new one, as far as they decode.
fn states<K: View>(event: &Event<K>) -> impl Iterator<Item = Arc<K>> {
    let decode = |object: &Observed<K>| {
        let decoded = object.get();
        decoded
            .inspect_err(|error| tracing::warn!(%error, cause = %error.source, "not mapping an object"))
            .ok()
    };
    event.object_old().into_iter().chain([event.object()]).filter_map(decode)
}

/// Each request once, in order of first appearance.
pub(super) fn deduplicated<R: RequestType>(requests: impl IntoIterator<Item = R>) -> Vec<R> {
    let mut unique = hashbrown::HashSet::new();
    requests.into_iter().filter(|request| unique.insert(request.clone())).collect()
}

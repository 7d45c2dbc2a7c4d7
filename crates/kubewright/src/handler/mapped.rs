//! Whatever a function of the object says.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{EventHandler, Requests};
use crate::{
    BoxError,
    event::{Event, Observed},
    object::View,
    reconcile::RequestType,
};

/// Enqueues what `map` makes of the object; for an update, of its old state and its new one. Requests of one event are deduplicated.
///
/// An object that does not decode as a `K` is logged and enqueues nothing. A function that may fail goes into [`try_enqueue_mapped`].
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
///
/// A `Result` is not taken for a list of one or none, which would lose its error:
/// ```compile_fail
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # use kubewright::{controller::Builder, handler, reconcile::Request};
/// fn may_fail(_: &ConfigMap) -> Result<Vec<Request>, std::fmt::Error> {
///     Ok(Vec::new())
/// }
/// fn add(controller: Builder) -> Builder {
///     controller.watches::<ConfigMap>(handler::enqueue_mapped(may_fail))
/// }
/// ```
pub fn enqueue_mapped<K, R, I, F>(map: F) -> Mapped<K, R, F>
where
    I: IntoIterator<Item = R>,
    F: Fn(&K) -> I + Send + Sync + 'static,
{
    Mapped { map, types: PhantomData }
}

/// As [`enqueue_mapped`], with a function that may wait: for a cached list, say.
pub fn enqueue_mapped_async<K, R, I, Fut, F>(map: F) -> MappedAsync<K, R, F>
where
    I: IntoIterator<Item = R>,
    Fut: Future<Output = I> + Send,
    F: Fn(Arc<K>) -> Fut + Send + Sync + 'static,
{
    MappedAsync { map, types: PhantomData }
}

/// As [`enqueue_mapped`], with a function that may fail: its event comes again, as [`Requests::fail`] says.
///
/// # Example: an annotation that has to be a number
/// ```
/// use std::num::ParseIntError;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright::{handler, reconcile::Request};
///
/// fn shard_of(config: &ConfigMap) -> Result<Option<Request>, ParseIntError> {
///     let Some(shard) = config.metadata.annotations.as_ref().and_then(|all| all.get("example.com/shard")) else {
///         return Ok(None);
///     };
///     Ok(Some(Request::cluster_scoped(format!("shard-{}", shard.parse::<u16>()?))))
/// }
/// let handler = handler::try_enqueue_mapped(shard_of);
/// ```
pub fn try_enqueue_mapped<K, R, I, E, F>(map: F) -> TryMapped<K, R, F>
where
    I: IntoIterator<Item = R>,
    E: Into<BoxError>,
    F: Fn(&K) -> Result<I, E> + Send + Sync + 'static,
{
    TryMapped { map, types: PhantomData }
}

/// As [`try_enqueue_mapped`], with a function that may wait: for a list, say, which may fail.
pub fn try_enqueue_mapped_async<K, R, I, E, Fut, F>(map: F) -> TryMappedAsync<K, R, F>
where
    I: IntoIterator<Item = R>,
    E: Into<BoxError>,
    Fut: Future<Output = Result<I, E>> + Send,
    F: Fn(Arc<K>) -> Fut + Send + Sync + 'static,
{
    TryMappedAsync { map, types: PhantomData }
}

/// See [`enqueue_mapped`].
pub struct Mapped<K, R, F> {
    map: F,
    types: PhantomData<fn(&K) -> R>,
}

/// See [`enqueue_mapped_async`].
pub struct MappedAsync<K, R, F> {
    map: F,
    types: PhantomData<fn(&K) -> R>,
}

/// See [`try_enqueue_mapped`].
pub struct TryMapped<K, R, F> {
    map: F,
    types: PhantomData<fn(&K) -> R>,
}

/// See [`try_enqueue_mapped_async`].
pub struct TryMappedAsync<K, R, F> {
    map: F,
    types: PhantomData<fn(&K) -> R>,
}

impl<K, R, F> fmt::Debug for TryMapped<K, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TryMapped")
    }
}

impl<K, R, F> fmt::Debug for TryMappedAsync<K, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TryMappedAsync")
    }
}

impl<K, R, F> fmt::Debug for Mapped<K, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mapped")
    }
}

impl<K, R, F> fmt::Debug for MappedAsync<K, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MappedAsync")
    }
}

impl<K, R, I, F> EventHandler<K, R> for Mapped<K, R, F>
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

impl<K, R, I, Fut, F> EventHandler<K, R> for MappedAsync<K, R, F>
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

impl<K, R, I, E, F> EventHandler<K, R> for TryMapped<K, R, F>
where
    K: View,
    R: RequestType,
    I: IntoIterator<Item = R>,
    E: Into<BoxError>,
    F: Fn(&K) -> Result<I, E> + Send + Sync + 'static,
{
    fn handle(&self, event: &Event<K>, requests: &Requests<'_, R>) -> impl Future<Output = ()> + Send {
        let mapped = states(event).map(|object| (self.map)(&object));
        requests.add_all(deduplicated(mapped.filter_map(|mapped| or_fail(mapped, requests)).flatten()));
        std::future::ready(())
    }
}

impl<K, R, I, E, Fut, F> EventHandler<K, R> for TryMappedAsync<K, R, F>
where
    K: View,
    R: RequestType,
    I: IntoIterator<Item = R>,
    E: Into<BoxError>,
    Fut: Future<Output = Result<I, E>> + Send,
    F: Fn(Arc<K>) -> Fut + Send + Sync + 'static,
{
    async fn handle(&self, event: &Event<K>, requests: &Requests<'_, R>) {
        let mut found: Vec<R> = Vec::new();
        for object in states(event) {
            let mapped = (self.map)(object).await;
            found.extend(or_fail(mapped, requests).into_iter().flatten());
        }
        requests.add_all(deduplicated(found));
    }
}

fn or_fail<I, E: Into<BoxError>, R: RequestType>(
    mapped: Result<I, E>,
    requests: &Requests<'_, R>,
) -> Option<I> {
    mapped.map_err(|error| requests.fail(error)).ok()
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

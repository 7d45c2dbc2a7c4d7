//! The events of a kind, from its informer.

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::{Source, SourceContext, SourceFailure, SyncProgress, delivery::Delivery, waiting::Waiting};
use crate::{
    BoxError,
    cache::{
        Cache, CacheError,
        informer::{Delta, Informer},
    },
    event::{AnyObject, Event, Observed},
    handler::{DynEventHandler, EventHandler},
    object::{Kind, Object, View},
    predicate::Predicate,
    reconcile::RequestType,
    workqueue::Queue,
};

/// Watches objects `K` in `cache` and hands their events to `handler`.
///
/// The controller's builder does this for the manager's cache; this is for another one: that of another cluster, say. The first reconcile
/// waits until the handler has seen every object of the initial list.
///
/// Source: controller-runtime `source.TypedKind`.
pub fn kind<K: Object, R: RequestType>(cache: &Cache, handler: impl EventHandler<K, R>) -> KindSource<K, R> {
    kind_as(cache, Kind::of::<K>(), handler)
}

/// As [`kind`], of a kind that may be known at run time only, whose objects are read as `V`.
pub fn kind_as<V: View, R: RequestType>(
    cache: &Cache,
    kind: Kind,
    handler: impl EventHandler<V, R>,
) -> KindSource<V, R> {
    KindSource {
        cache: cache.clone(),
        kind,
        handler: Box::new(handler),
        filters: Vec::new(),
        predicates: Vec::new(),
        holds_back_reconciles: true,
    }
}

/// As [`kind`], but the first reconcile does not wait for it: for a kind whose absence must not hold up the controller.
///
/// Source: controller-runtime `source.TypedInformer`.
pub fn informer<K: Object, R: RequestType>(
    cache: &Cache,
    handler: impl EventHandler<K, R>,
) -> KindSource<K, R> {
    informer_as(cache, Kind::of::<K>(), handler)
}

/// As [`informer`], of a kind that may be known at run time only, whose objects are read as `V`.
pub fn informer_as<V: View, R: RequestType>(
    cache: &Cache,
    kind: Kind,
    handler: impl EventHandler<V, R>,
) -> KindSource<V, R> {
    KindSource { holds_back_reconciles: false, ..kind_as(cache, kind, handler) }
}

/// Watches objects through a cache and reads them as `V`; see [`kind`] and [`informer`].
pub struct KindSource<V, R: RequestType> {
    cache: Cache,
    kind: Kind,
    handler: Box<dyn DynEventHandler<V, R>>,
    filters: Vec<Arc<dyn Predicate<AnyObject>>>,
    predicates: Vec<Box<dyn Predicate<V>>>,
    holds_back_reconciles: bool,
}

impl<V: View, R: RequestType> KindSource<V, R> {
    /// Hands on only what `predicate` passes, and all others that were given.
    #[must_use]
    pub fn with_predicate(mut self, predicate: impl Predicate<V>) -> Self {
        self.predicates.push(Box::new(predicate));
        self
    }

    pub(crate) fn with_predicates(mut self, predicates: Vec<Box<dyn Predicate<V>>>) -> Self {
        self.predicates.extend(predicates);
        self
    }

    /// Predicates of the whole controller; they judge before those of this watch.
    pub(crate) fn with_filters(mut self, filters: Vec<Arc<dyn Predicate<AnyObject>>>) -> Self {
        self.filters = filters;
        self
    }
}

impl<V: View, R: RequestType> Source<R> for KindSource<V, R> {
    async fn start(self, context: SourceContext, queue: Queue<R>) -> Result<(), BoxError> {
        let informer = self.cache.informer(&self.kind);
        let mut subscription = informer.subscribe();
        let (handled_initial_list, initial_list_handled) = oneshot::channel();

        if self.holds_back_reconciles {
            let (cache, sync_timeout, informer) =
                (self.cache.clone(), context.sync_timeout(), informer.clone());
            context.sync_on(async move {
                wait_for_list(&cache, &informer, sync_timeout).await?;
                // An error means that the task below is gone, which its owner reports.
                initial_list_handled.await.map_err(Into::into)
            });
        }

        let mut delivery = Delivery {
            source: Source::<R>::name(&self),
            filters: self.filters,
            predicates: self.predicates,
            handler: self.handler,
            queue,
            context: context.clone(),
            waiting: Waiting::new(),
        };
        context.spawn_fallible(async move {
            let mut handled_initial_list = Some(handled_initial_list);
            let mut handled = 0;
            loop {
                let delta = tokio::select! {
                    delta = subscription.next() => delta,
                    () = delivery.due() => {
                        delivery.retry().await;
                        continue;
                    }
                };
                let Some(delta) = delta else {
                    let (name, error) = (delivery.source.clone(), CacheError::Stopped.into());
                    return Err(SourceFailure { name, error });
                };
                let Some(event) = event_of(delta) else {
                    // Nobody listens if the controller does not wait, or has given up waiting.
                    let _ = handled_initial_list.take().map(|done| done.send(()));
                    continue;
                };
                delivery.deliver(event).await;
                if handled_initial_list.is_some() {
                    handled += 1;
                    let total = informer.len().max(handled);
                    delivery.context.progress(SyncProgress { handled, total });
                }
            }
        });
        Ok(())
    }

    fn name(&self) -> Cow<'static, str> {
        format!("kind source: {}", self.kind).into()
    }
}

/// The event of a change; `None` at the end of the first list.
fn event_of<V: View>(delta: Delta) -> Option<Event<V>> {
    match delta {
        Delta::Added { new, is_in_initial_list } => {
            Some(Event::Create { object: Observed::cached(new), is_in_initial_list })
        }
        Delta::Updated { old, new } => {
            Some(Event::Update { object_old: Observed::cached(old), object_new: Observed::cached(new) })
        }
        Delta::Deleted { last, final_state_unknown } => {
            Some(Event::Delete { object: Observed::cached(last), delete_state_unknown: final_state_unknown })
        }
        Delta::Synced => None,
    }
}

/// Waits for the first list as long as it grows at least once in each `limit`.
async fn wait_for_list(cache: &Cache, informer: &Informer, limit: Duration) -> Result<(), CacheError> {
    loop {
        let known = informer.len();
        match cache.wait_for_sync(informer, limit).await {
            Err(CacheError::SyncTimeout { .. }) if informer.len() > known => {}
            result => return result,
        }
    }
}

impl<V: View, R: RequestType> fmt::Debug for KindSource<V, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindSource").field("kind", &self.kind).finish_non_exhaustive()
    }
}

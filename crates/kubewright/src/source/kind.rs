//! The events of a kind, from its informer.

use std::{borrow::Cow, fmt, sync::Arc};

use tokio::sync::oneshot;

use super::{Source, SourceContext};
use crate::{
    cache::{Cache, informer::Delta},
    event::{AnyObject, Event, Observed},
    handler::{DynEventHandler, EventHandler, RequestType, Requests},
    object::{Kind, Object},
    predicate::Predicate,
    reconcile::BoxError,
    workqueue::Queue,
};

/// Watches objects `K` in `cache` and hands their events to `handler`.
///
/// The controller's builder does this for the manager's cache; this is for another one: that of another cluster, say. The first reconcile
/// waits until the handler has seen every object of the initial list.
///
/// Source: controller-runtime `source.TypedKind`.
pub fn kind<K: Object, R: RequestType>(cache: &Cache, handler: impl EventHandler<K, R>) -> KindSource<K, R> {
    KindSource {
        cache: cache.clone(),
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
    KindSource { holds_back_reconciles: false, ..kind(cache, handler) }
}

/// Watches objects `K` through a cache; see [`kind`] and [`informer`].
pub struct KindSource<K, R: RequestType> {
    cache: Cache,
    handler: Box<dyn DynEventHandler<K, R>>,
    filters: Vec<Arc<dyn Predicate<AnyObject>>>,
    predicates: Vec<Box<dyn Predicate<K>>>,
    holds_back_reconciles: bool,
}

impl<K: Object, R: RequestType> KindSource<K, R> {
    /// Hands on only what `predicate` passes, and all others that were given.
    #[must_use]
    pub fn with_predicate(mut self, predicate: impl Predicate<K>) -> Self {
        self.predicates.push(Box::new(predicate));
        self
    }

    pub(crate) fn with_predicates(mut self, predicates: Vec<Box<dyn Predicate<K>>>) -> Self {
        self.predicates.extend(predicates);
        self
    }

    /// Predicates of the whole controller; they judge before those of this watch.
    pub(crate) fn with_filters(mut self, filters: Vec<Arc<dyn Predicate<AnyObject>>>) -> Self {
        self.filters = filters;
        self
    }

    async fn hand_on(&self, event: Event<K>, queue: &Queue<R>) {
        if self.passes(&event) {
            let requests = Requests::new(queue, event.is_unchanged());
            self.handler.handle(&event, &requests).await;
        }
    }

    fn passes(&self, event: &Event<K>) -> bool {
        let passes_filters = self.filters.is_empty() || {
            let event = event.any();
            self.filters.iter().all(|filter| filter.judge(&event).passes())
        };
        passes_filters && self.predicates.iter().all(|predicate| predicate.judge(event).passes())
    }
}

impl<K: Object, R: RequestType> Source<R> for KindSource<K, R> {
    async fn start(self, context: SourceContext, queue: Queue<R>) -> Result<(), BoxError> {
        let informer = self.cache.informer(&Kind::of::<K>());
        let mut subscription = informer.subscribe();
        let (handled_initial_list, initial_list_handled) = oneshot::channel();

        if self.holds_back_reconciles {
            let (cache, sync_timeout) = (self.cache.clone(), context.sync_timeout());
            context.sync_on(async move {
                cache.wait_for_sync(&informer, sync_timeout).await?;
                // An error means that the task below is gone, which its owner reports.
                initial_list_handled.await.map_err(Into::into)
            });
        }

        context.spawn(async move {
            let mut handled_initial_list = Some(handled_initial_list);
            loop {
                let event = match subscription.next().await {
                    Delta::Added { new, is_in_initial_list } => {
                        Event::Create { object: Observed::cached(new), is_in_initial_list }
                    }
                    Delta::Updated { old, new } => {
                        Event::Update { object_old: Observed::cached(old), object_new: Observed::cached(new) }
                    }
                    Delta::Deleted { last, final_state_unknown } => Event::Delete {
                        object: Observed::cached(last),
                        delete_state_unknown: final_state_unknown,
                    },
                    Delta::Synced => {
                        // Nobody listens if the controller does not wait, or has given up waiting.
                        let _ = handled_initial_list.take().map(|done| done.send(()));
                        continue;
                    }
                };
                self.hand_on(event, &queue).await;
            }
        });
        Ok(())
    }

    fn name(&self) -> Cow<'static, str> {
        format!("kind source: {}", Kind::of::<K>()).into()
    }
}

impl<K: Object, R: RequestType> fmt::Debug for KindSource<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindSource").field("kind", &Kind::of::<K>()).finish_non_exhaustive()
    }
}

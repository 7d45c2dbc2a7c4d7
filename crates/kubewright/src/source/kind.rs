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

/// Watches objects `K` through a cache and hands their events to a handler, as far as the predicates pass them.
///
/// The controller's builder makes these for its own watches. One made by hand can read another cache: that of another cluster, say.
///
/// Source: controller-runtime `source.TypedKind`.
pub struct KindSource<K, R: RequestType> {
    cache: Cache,
    handler: Box<dyn DynEventHandler<K, R>>,
    filters: Vec<Arc<dyn Predicate<AnyObject>>>,
    predicates: Vec<Box<dyn Predicate<K>>>,
}

impl<K: Object, R: RequestType> KindSource<K, R> {
    /// Watches `K` in `cache`.
    pub fn new(cache: Cache, handler: impl EventHandler<K, R>) -> Self {
        Self { cache, handler: Box::new(handler), filters: Vec::new(), predicates: Vec::new() }
    }

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

        let (cache, sync_timeout) = (self.cache.clone(), context.sync_timeout());
        context.sync_on(async move {
            cache.wait_for_sync(&informer, sync_timeout).await?;
            // An error means that the task below is gone, which its owner reports.
            initial_list_handled.await.map_err(Into::into)
        });

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
                        // Nobody listens any more if the controller has given up waiting.
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

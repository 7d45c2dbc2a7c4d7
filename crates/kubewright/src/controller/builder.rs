//! Says what a controller watches.

use std::{fmt, num::NonZeroUsize, sync::Arc, time::Duration};

use super::{BuildError, Controller, ControllerOptions, OwnsOptions, WatchOptions};
use crate::{
    cache::Cache,
    event::AnyObject,
    handler::{self, EventHandler, RequestType},
    manager::Manager,
    object::{Kind, Object},
    predicate::Predicate,
    reconcile::{Reconciler, Request},
    source::{self, DynSource, Source},
    workqueue::{QueueOptions, RateLimiter},
};

/// Builds a controller; made by [`Controller::builder`].
///
/// Watches are started in the order in which they were declared. Predicates of the whole controller judge before those of a watch.
///
/// Source: controller-runtime `builder.TypedBuilder`.
#[must_use = "a controller that is not completed does nothing"]
pub struct Builder<R: RequestType = Request> {
    manager: Manager,
    name: Option<String>,
    for_: Option<Kind>,
    for_again: Option<Kind>,
    owns_without_for: bool,
    filters: Vec<Arc<dyn Predicate<AnyObject>>>,
    watches: Vec<Watch<R>>,
    options: ControllerOptions,
    rate_limiter: Option<Box<dyn RateLimiter<R>>>,
}

/// A source that is made at the end, when all filters are known.
type Watch<R> = Box<dyn FnOnce(&Cache, Vec<Arc<dyn Predicate<AnyObject>>>) -> Box<dyn DynSource<R>> + Send>;

impl Builder<Request> {
    /// Reconciles objects `K`: each event of one enqueues its key. Names the controller after the kind. Called once.
    pub fn for_<K: Object>(self) -> Self {
        self.for_with::<K>(WatchOptions::new())
    }

    /// As [`for_`](Self::for_), with options.
    pub fn for_with<K: Object>(mut self, options: WatchOptions<K>) -> Self {
        let kind = Kind::of::<K>();
        if self.for_.is_some() {
            self.for_again = Some(kind);
            return self;
        }
        self.for_ = Some(kind);
        self.watch_kind(handler::enqueue_request_for_object(), options)
    }
}

impl<R: RequestType> Builder<R> {
    pub(super) fn new(manager: &Manager) -> Self {
        Self {
            options: manager.controller_defaults().clone(),
            manager: manager.clone(),
            name: None,
            for_: None,
            for_again: None,
            owns_without_for: false,
            filters: Vec::new(),
            watches: Vec::new(),
            rate_limiter: None,
        }
    }

    /// Enqueues what `handler` makes of the events of objects `K`.
    pub fn watches<K: Object>(self, handler: impl EventHandler<K, R>) -> Self {
        self.watches_with(handler, WatchOptions::new())
    }

    /// As [`watches`](Self::watches), with options.
    pub fn watches_with<K: Object>(self, handler: impl EventHandler<K, R>, options: WatchOptions<K>) -> Self {
        self.watch_kind(handler, options)
    }

    /// Starts a source that is not a kind of the manager's cache. [`with_event_filter`](Self::with_event_filter) does not apply to it.
    pub fn watches_raw_source(mut self, source: impl Source<R>) -> Self {
        self.watches.push(Box::new(move |_, _| Box::new(source)));
        self
    }

    /// Drops, from every watch on a kind, the events that `predicate` drops. Several filters all have to pass.
    pub fn with_event_filter(mut self, predicate: impl Predicate<AnyObject>) -> Self {
        self.filters.push(Arc::new(predicate));
        self
    }

    /// The name in logs and metrics. Default: the kind of [`for_`](Builder::for_) in lower case.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets [`ControllerOptions::max_concurrent_reconciles`]; zero means one.
    pub fn max_concurrent_reconciles(mut self, workers: usize) -> Self {
        self.options.max_concurrent_reconciles = NonZeroUsize::new(workers).unwrap_or(NonZeroUsize::MIN);
        self
    }

    /// Sets [`ControllerOptions::cache_sync_timeout`].
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.options.cache_sync_timeout = timeout;
        self
    }

    /// Sets [`ControllerOptions::reconciliation_timeout`].
    pub fn reconciliation_timeout(mut self, timeout: Duration) -> Self {
        self.options.reconciliation_timeout = Some(timeout);
        self
    }

    /// Sets [`ControllerOptions::recover_panic`].
    pub fn recover_panic(mut self, recover: bool) -> Self {
        self.options.recover_panic = recover;
        self
    }

    /// How long failed requests wait. Default: 5 ms, doubled by each failure up to 1000 s.
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter<R> + 'static) -> Self {
        self.rate_limiter = Some(Box::new(rate_limiter));
        self
    }

    /// Replaces all options.
    pub fn with_options(mut self, options: ControllerOptions) -> Self {
        self.options = options;
        self
    }

    /// Builds the controller and gives it to the manager, which starts it after its caches.
    ///
    /// # Errors
    /// [`BuildError`] names what is missing.
    pub fn complete(self, reconciler: impl Reconciler<R>) -> Result<(), BuildError> {
        let manager = self.manager.clone();
        manager.add_controller(self.build(reconciler)?)?;
        Ok(())
    }

    /// Builds the controller without giving it to anybody; the caller runs it with [`Controller::start`].
    ///
    /// # Errors
    /// [`BuildError`] names what is missing.
    pub fn build(self, reconciler: impl Reconciler<R>) -> Result<Controller<R>, BuildError> {
        if let (Some(first), Some(second)) = (&self.for_, &self.for_again) {
            return Err(BuildError::ForTwice { first: first.to_string(), second: second.to_string() });
        }
        if self.owns_without_for {
            return Err(BuildError::OwnsWithoutFor);
        }
        if self.watches.is_empty() {
            return Err(BuildError::NoWatches);
        }
        let name = self.name.or_else(|| self.for_.as_ref().map(|kind| kind.kind().to_lowercase()));
        let name = name.ok_or(BuildError::NoName)?;
        let mut queue = QueueOptions::new(name.as_str());
        if let Some(rate_limiter) = self.rate_limiter {
            queue.rate_limiter = rate_limiter;
        }
        let cache = self.manager.cache();
        let sources = self.watches.into_iter().map(|watch| watch(cache, self.filters.clone())).collect();
        Ok(Controller::new(name, sources, Arc::new(reconciler), queue, self.options))
    }

    fn watch_kind<K: Object>(mut self, handler: impl EventHandler<K, R>, options: WatchOptions<K>) -> Self {
        self.watches.push(Box::new(move |cache, filters| {
            let source = source::kind(cache, handler);
            Box::new(source.with_filters(filters).with_predicates(options.predicates))
        }));
        self
    }
}

impl Builder<Request> {
    /// Reconciles the object that owns a `K` when the `K` changes: that of the kind given to [`for_`](Self::for_) which the owner references
    /// name as controller.
    pub fn owns<K: Object>(self) -> Self {
        self.owns_with::<K>(OwnsOptions::new())
    }

    /// As [`owns`](Self::owns), with options.
    pub fn owns_with<K: Object>(mut self, options: OwnsOptions<K>) -> Self {
        let Some(owner) = self.for_.clone() else {
            self.owns_without_for = true;
            return self;
        };
        let mut handler = handler::EnqueueRequestForOwner::of_kind(owner);
        if options.every_owner {
            handler = handler.every_owner();
        }
        self.watch_kind(handler, options.watch)
    }
}

impl<R: RequestType> fmt::Debug for Builder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("name", &self.name).field("for_", &self.for_).finish_non_exhaustive()
    }
}

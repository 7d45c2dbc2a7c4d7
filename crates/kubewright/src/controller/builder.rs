//! Says what a controller watches.

use std::{fmt, num::NonZeroUsize, sync::Arc, time::Duration};

use kube::core::DynamicObject;

use super::{
    BuildError, Controller, ControllerHandle, ControllerOptions, Host, LogConstructor, OwnsOptions,
    WatchOptions, log_constructor, run::Parts,
};
use crate::{
    cache::Cache,
    event::AnyObject,
    handler::{self, EventHandler},
    object::{Kind, Object, Scope, View},
    predicate::Predicate,
    reconcile::RequestType,
    reconcile::{ReconcileId, Reconciler, Request},
    source::{self, DynSource, Source},
    workqueue::{QueueOptions, RateLimiter},
};

/// Builds a controller; made by [`Controller::builder`].
///
/// Watches are started in the order in which they were declared; [`with_options`](Self::with_options) and [`queue`](Self::queue) replace what was
/// set before. Apart from that, the order of the calls does not matter. Predicates of the whole controller judge before those of a watch.
///
/// Source: controller-runtime `builder.TypedBuilder`.
#[must_use = "a controller that is not completed does nothing"]
pub struct Builder<R: RequestType = Request> {
    host: Host,
    name: Option<String>,
    for_: Option<Kind>,
    for_again: Option<Kind>,
    filters: Vec<Arc<dyn Predicate<AnyObject>>>,
    watches: Vec<Watch<R>>,
    options: ControllerOptions,
    own_concurrency: bool,
    queue: QueueOptions<R>,
    /// The one spelling of a request, if objects of [`for_`](Builder::for_) have several.
    canonical_request: Option<fn(R) -> R>,
    log_constructor: Option<LogConstructor<R>>,
    default_log_constructor: LogConstructor<R>,
}

/// A source that is made at the end, when all else is known.
type Watch<R> = Box<dyn FnOnce(&Surroundings<'_>) -> Result<Box<dyn DynSource<R>>, BuildError> + Send>;

/// What a watch has to know of the rest of its controller.
struct Surroundings<'a> {
    cache: &'a Cache,
    filters: &'a [Arc<dyn Predicate<AnyObject>>],
    /// The kind of [`Builder::for_`].
    owner: Option<&'a Kind>,
}

impl Builder<Request> {
    /// Reconciles objects `K`: each event of one enqueues its key. Names the controller after the kind. Called once.
    ///
    /// # Differences from Go
    /// If the kind is cluster-scoped, a namespace in a request is ignored, whichever handler or source it comes from: one object is one request.
    /// There it would be a second request for the same object, in another worker perhaps.
    pub fn for_<K: Object>(self) -> Self {
        self.for_with::<K>(WatchOptions::new())
    }

    /// As [`for_`](Self::for_), with options.
    pub fn for_with<K: Object>(self, options: WatchOptions<K>) -> Self {
        self.for_kind_with(Kind::of::<K>(), options)
    }

    /// As [`for_`](Self::for_), of a kind that may be known at run time only.
    pub fn for_kind(self, kind: Kind) -> Self {
        self.for_kind_with::<DynamicObject>(kind, WatchOptions::new())
    }

    /// As [`for_kind`](Self::for_kind), with options. Predicates read the objects as `V`.
    pub fn for_kind_with<V: View>(mut self, kind: Kind, options: WatchOptions<V>) -> Self {
        if self.for_.is_some() {
            self.for_again = Some(kind);
            return self;
        }
        self.for_ = Some(kind.clone());
        self.default_log_constructor = log_constructor::for_kind(kind.clone());
        if kind.scope() == Scope::Cluster {
            self.canonical_request = Some(|request| request.without_namespace());
        }
        self.watches_kind_with(kind, handler::enqueue_request_for_object(), options)
    }

    /// Reconciles the object that owns a `K` when the `K` changes: that of the kind given to [`for_`](Self::for_) which the owner references
    /// name as controller.
    pub fn owns<K: Object>(self) -> Self {
        self.owns_with::<K>(OwnsOptions::new())
    }

    /// As [`owns`](Self::owns), with options.
    pub fn owns_with<K: Object>(self, options: OwnsOptions<K>) -> Self {
        self.owns_kind_with(Kind::of::<K>(), options)
    }

    /// As [`owns`](Self::owns), of objects of a kind that may be known at run time only.
    pub fn owns_kind(self, kind: Kind) -> Self {
        self.owns_kind_with::<DynamicObject>(kind, OwnsOptions::new())
    }

    /// As [`owns_kind`](Self::owns_kind), with options. Predicates read the objects as `V`.
    pub fn owns_kind_with<V: View>(mut self, kind: Kind, options: OwnsOptions<V>) -> Self {
        self.watches.push(Box::new(move |surroundings| {
            let owner = surroundings.owner.ok_or(BuildError::OwnsWithoutFor)?;
            let owners = handler::enqueue_request_for_owner_of_kind(owner.clone());
            let owners = if options.every_owner { owners } else { owners.only_controller_owner() };
            Ok(surroundings.watch(kind, owners, options.watch))
        }));
        self
    }
}

impl<R: RequestType> Builder<R> {
    pub(super) fn new(host: Host) -> Self {
        Self {
            options: host.controller_defaults.clone(),
            host,
            name: None,
            for_: None,
            for_again: None,
            filters: Vec::new(),
            watches: Vec::new(),
            own_concurrency: false,
            queue: QueueOptions::default(),
            canonical_request: None,
            log_constructor: None,
            default_log_constructor: log_constructor::for_request(),
        }
    }

    /// Enqueues what `handler` makes of the events of objects `K`.
    pub fn watches<K: Object>(self, handler: impl EventHandler<K, R>) -> Self {
        self.watches_with(handler, WatchOptions::new())
    }

    /// As [`watches`](Self::watches), with options.
    pub fn watches_with<K: Object>(self, handler: impl EventHandler<K, R>, options: WatchOptions<K>) -> Self {
        self.watches_kind_with(Kind::of::<K>(), handler, options)
    }

    /// As [`watches`](Self::watches), of a kind that may be known at run time only. The handler reads the objects as `V`.
    pub fn watches_kind<V: View>(self, kind: Kind, handler: impl EventHandler<V, R>) -> Self {
        self.watches_kind_with(kind, handler, WatchOptions::new())
    }

    /// As [`watches_kind`](Self::watches_kind), with options.
    pub fn watches_kind_with<V: View>(
        mut self,
        kind: Kind,
        handler: impl EventHandler<V, R>,
        options: WatchOptions<V>,
    ) -> Self {
        self.watches.push(Box::new(move |surroundings| Ok(surroundings.watch(kind, handler, options))));
        self
    }

    /// Starts a source that is not a kind of the manager's cache. [`with_event_filter`](Self::with_event_filter) does not apply to it.
    pub fn watches_raw_source(mut self, source: impl Source<R>) -> Self {
        self.watches.push(Box::new(|_| Ok(Box::new(source))));
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
        self.own_concurrency = true;
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

    /// Sets [`ControllerOptions::needs_leader_election`].
    pub fn needs_leader_election(mut self, needs: bool) -> Self {
        self.options.needs_leader_election = needs;
        self
    }

    /// Sets [`ControllerOptions::enable_warmup`].
    pub fn enable_warmup(mut self, enable: bool) -> Self {
        self.options.enable_warmup = enable;
        self
    }

    /// How the queue behaves. Its name in the metrics is the controller's, unless `options` have one.
    pub fn queue(mut self, options: QueueOptions<R>) -> Self {
        self.queue = options;
        self
    }

    /// Makes the span of each reconcile, from the controller's name, the request and the reconcile id. Default: a span `reconcile` with
    /// controller, reconcile id and the request; after [`for_`](Builder::for_) with group, kind, object, namespace and name.
    pub fn log_constructor(
        mut self,
        construct: impl Fn(&str, &R, ReconcileId) -> tracing::Span + Send + Sync + 'static,
    ) -> Self {
        self.log_constructor = Some(Arc::new(construct));
        self
    }

    /// How long failed requests wait. Default: 5 ms, doubled by each failure up to 1000 s.
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter<R> + 'static) -> Self {
        self.queue.rate_limiter = Box::new(rate_limiter);
        self
    }

    /// Replaces all options, those of the manager included.
    pub fn with_options(mut self, options: ControllerOptions) -> Self {
        self.options = options;
        self.own_concurrency = true;
        self
    }

    /// Builds the controller and gives it to the manager, which starts it after its caches. The handle adds watches later; nobody has to keep it.
    ///
    /// # Errors
    /// [`BuildError`] names what is missing.
    pub fn complete(self, reconciler: impl Reconciler<R>) -> Result<ControllerHandle<R>, BuildError> {
        let host = self.host.clone();
        let controller = self.build(reconciler)?;
        let handle = controller.handle();
        (host.add)(controller.hosted())?;
        Ok(handle)
    }

    /// Builds the controller without giving it to anybody; the caller runs it with [`Controller::start`].
    ///
    /// # Errors
    /// [`BuildError`] names what is missing.
    pub fn build(self, reconciler: impl Reconciler<R>) -> Result<Controller<R>, BuildError> {
        if let (Some(first), Some(second)) = (&self.for_, &self.for_again) {
            return Err(BuildError::ForTwice { first: first.to_string(), second: second.to_string() });
        }
        if self.watches.is_empty() {
            return Err(BuildError::NoWatches);
        }
        let name = self.name.or_else(|| self.for_.as_ref().map(|kind| kind.kind().to_lowercase()));
        let name = name.ok_or(BuildError::NoName)?;
        let mut options = self.options;
        if let Some(kind) = &self.for_
            && let Some(concurrency) = options.group_kind_concurrency.get(&kind.to_string())
            && !self.own_concurrency
        {
            options.max_concurrent_reconciles = *concurrency;
        }
        options.enable_warmup &= options.needs_leader_election;
        let mut queue = self.queue;
        if queue.name.is_empty() {
            queue.name.clone_from(&name);
        }
        queue.canonical_key = queue.canonical_key.or(self.canonical_request);
        queue.metrics_provider.get_or_insert_with(|| Arc::new(self.host.registry.clone()));
        let surroundings =
            Surroundings { cache: &self.host.cache, filters: &self.filters, owner: self.for_.as_ref() };
        let sources: Vec<_> =
            self.watches.into_iter().map(|watch| watch(&surroundings)).collect::<Result<_, _>>()?;
        Ok(Controller::new(Parts {
            name: name.into(),
            sources,
            reconciler: Arc::new(reconciler),
            queue,
            options,
            log_constructor: self.log_constructor.unwrap_or(self.default_log_constructor),
            elected: self.host.elected,
            registry: self.host.registry,
            tracker: self.host.tracker,
        }))
    }
}

impl Surroundings<'_> {
    fn watch<V: View, R: RequestType>(
        &self,
        kind: Kind,
        handler: impl EventHandler<V, R>,
        options: WatchOptions<V>,
    ) -> Box<dyn DynSource<R>> {
        let source = source::kind_as(self.cache, kind, handler);
        Box::new(source.with_filters(self.filters.to_vec()).with_predicates(options.predicates))
    }
}

impl<R: RequestType> fmt::Debug for Builder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("name", &self.name).field("for_", &self.for_).finish_non_exhaustive()
    }
}

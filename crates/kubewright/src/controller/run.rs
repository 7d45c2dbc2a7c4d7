//! The life of a controller.

use std::{fmt, sync::Arc};

use futures::{FutureExt as _, future::try_join_all};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Builder, ControllerError, ControllerHandle, ControllerOptions, Host, Hosted, LogConstructor,
    handle::Addition, hot_loop::HotLoops, metrics::ControllerMetrics, starter::Starter, tasks::Tasks,
    worker::Crew,
};
use crate::{
    error,
    metrics::Registry,
    reconcile::RequestType,
    reconcile::{DynReconciler, Request},
    source::{DynSource, SourceMetrics},
    workqueue::{Queue, QueueOptions},
};

/// Sources that fill a queue, and workers that reconcile what is in it.
///
/// # Example: the shortest controller
/// ```no_run
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright::prelude::*;
///
/// struct Log;
///
/// impl Reconciler for Log {
///     type Error = BoxError;
///
///     async fn reconcile(&self, _: Context, request: Request) -> Result<Action, BoxError> {
///         println!("{request} exists, has changed, or is gone");
///         Ok(Action::await_change())
///     }
/// }
///
/// # async fn run() -> Result<(), BoxError> {
/// let manager = Manager::builder().build().await?;
/// Controller::builder(&manager).for_::<ConfigMap>().complete(Log)?;
/// manager.start(signals::shutdown()).await?;
/// # Ok(())
/// # }
/// ```
pub struct Controller<R: RequestType = Request> {
    parts: Parts<R>,
    handle: ControllerHandle<R>,
    additions: mpsc::UnboundedReceiver<Addition<R>>,
    stop: CancellationToken,
}

/// What a controller is made of.
pub(super) struct Parts<R: RequestType> {
    pub(super) name: Arc<str>,
    pub(super) sources: Vec<Box<dyn DynSource<R>>>,
    pub(super) reconciler: Arc<dyn DynReconciler<R>>,
    pub(super) queue: QueueOptions<R>,
    pub(super) options: ControllerOptions,
    pub(super) log_constructor: LogConstructor<R>,
    /// Fires when the manager is elected.
    pub(super) elected: CancellationToken,
    /// Where it is measured.
    pub(super) registry: Registry,
    /// Counts its tasks.
    pub(super) tracker: TaskTracker,
}

impl Controller<Request> {
    /// A controller whose requests are keys of objects.
    pub fn builder(host: impl Into<Host>) -> Builder<Request> {
        Builder::new(host.into())
    }

    /// A controller with requests of another type.
    pub fn typed<R: RequestType>(host: impl Into<Host>) -> Builder<R> {
        Builder::new(host.into())
    }
}

impl<R: RequestType> Controller<R> {
    pub(super) fn new(parts: Parts<R>) -> Self {
        let stop = CancellationToken::new();
        let (handle, additions) = ControllerHandle::new(Arc::clone(&parts.name), stop.clone());
        Self { parts, handle, additions, stop }
    }

    /// The name in logs and metrics.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// Adds watches, also when the controller has been given away.
    pub fn handle(&self) -> ControllerHandle<R> {
        self.handle.clone()
    }

    pub(crate) fn options(&self) -> &ControllerOptions {
        &self.parts.options
    }

    pub(super) fn hosted(self) -> Hosted {
        Hosted {
            name: Arc::clone(&self.parts.name),
            needs_leader_election: self.parts.options.needs_leader_election,
            enable_warmup: self.parts.options.enable_warmup,
            start: Box::new(|cancel, report| {
                Box::pin(async { Ok(self.run(cancel, |error| report(error.into())).await?) })
            }),
        }
    }

    /// Runs until `cancel` fires. Then sources and queue stop, and workers finish the reconcile that they hold.
    ///
    /// The first reconcile starts when all sources have synced: every object of the initial lists is in the queue by then, and in the cache.
    ///
    /// # Errors
    /// [`ControllerError`] if a source does not start, does not sync, or dies. It is logged when it happens and returned when the workers have finished.
    ///
    /// # Cancel safety
    /// Dropped, it aborts its sources and workers; reconciles stop at their next await point.
    pub async fn start(self, cancel: CancellationToken) -> Result<(), ControllerError> {
        let mut failure = None;
        let joined = self.run(cancel, |error| failure = Some(error)).await;
        failure.map_or(joined, Err)
    }

    /// As [`start`](Self::start), but a failure is reported when it happens: a reconcile that hangs must not keep it secret.
    async fn run(
        self,
        cancel: CancellationToken,
        report: impl FnOnce(ControllerError),
    ) -> Result<(), ControllerError> {
        let Self { parts, handle: _handle, mut additions, stop } = self;
        let controller = Arc::clone(&parts.name);
        let queue = Queue::new(parts.queue);
        let mut tasks = Tasks::new(parts.tracker);
        let starter = Starter {
            queue: queue.clone(),
            tasks: tasks.spawner(),
            sync_timeout: parts.options.cache_sync_timeout,
            metrics: SourceMetrics::new(&parts.registry, &parts.name),
        };

        let declared = parts
            .sources
            .into_iter()
            .map(|source| starter.clone().start(source, starter.context(stop.clone())).boxed());
        let early = std::iter::from_fn(|| additions.try_recv().ok());
        let early = early.map(|addition| start_early(addition, starter.clone()).boxed());
        let starting: Vec<_> = declared.chain(early).collect();
        let ready = async {
            try_join_all(starting).await?;
            if parts.options.enable_warmup {
                parts.elected.cancelled().await;
            }
            Ok(())
        };
        let mut result = match tasks.supervise(cancel.run_until_cancelled(ready)).await {
            Ok(ready) => ready.transpose(),
            Err(error) => Err(error),
        };

        if let Ok(Some(())) = result {
            let workers = parts.options.max_concurrent_reconciles.get();
            let crew = Arc::new(Crew {
                controller: Arc::clone(&parts.name),
                reconciler: parts.reconciler,
                log_constructor: parts.log_constructor,
                reconciliation_timeout: parts.options.reconciliation_timeout,
                recover_panic: parts.options.recover_panic,
                cancel: stop.clone(),
                metrics: ControllerMetrics::new(&parts.registry, &parts.name, workers),
                hot_loops: Mutex::new(HotLoops::new()),
            });
            for _ in 0..workers {
                tasks.spawn(Arc::clone(&crew).work(queue.clone()));
            }
            tracing::info!(controller = &*parts.name, workers, "started workers");
            let started_late = async {
                while let Some(addition) = additions.recv().await {
                    start_late(addition, &starter, &parts.name);
                }
            };
            result = tasks.supervise(cancel.run_until_cancelled(started_late)).await;
        }
        stop.cancel();
        queue.shut_down();
        if let Err(error) = result {
            tracing::error!(controller = &*controller, error = %error::chain(&error), "the controller failed, and stops");
            report(error);
        }
        tasks.join().await
    }
}

/// A watch that was added before the start is one of the controller's own: its failure is the controller's.
async fn start_early<R: RequestType>(
    addition: Addition<R>,
    starter: Starter<R>,
) -> Result<(), ControllerError> {
    let context = starter.context(addition.cancel);
    starter.start(addition.source, context).await?;
    // Nobody may have waited.
    let _ = addition.started.send(Ok(()));
    Ok(())
}

/// A watch that was added to a running controller starts beside it. One that fails to start is undone: nothing of it runs when its handle hears of that.
fn start_late<R: RequestType>(addition: Addition<R>, starter: &Starter<R>, controller: &Arc<str>) {
    let (one, controller) = (starter.clone(), Arc::clone(controller));
    let Addition { source, cancel, started } = addition;
    let start = async move {
        let name = source.name();
        let context = one.context(cancel.clone());
        let result = cancel.run_until_cancelled(one.start(source, context.clone())).await;
        let result = result.unwrap_or(Err(ControllerError::Stopped));
        if let Err(error) = &result {
            if !matches!(error, ControllerError::Stopped) {
                let error = error::chain(error);
                tracing::error!(controller = &*controller, source = &*name, %error, "failed to add a watch");
            }
            context.stop().await;
        }
        // Nobody may have waited.
        let _ = started.send(result);
        Ok(())
    };
    // The receiver lives as long as the controller runs.
    let _ = starter.tasks.send(Box::pin(start));
}

impl<R: RequestType> fmt::Debug for Controller<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name())
            .field("options", self.options())
            .finish_non_exhaustive()
    }
}

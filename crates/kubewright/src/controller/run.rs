//! The life of a controller.

use std::{fmt, sync::Arc, time::Duration};

use futures::future::try_join_all;
use parking_lot::Mutex;
use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    Builder, ControllerError, ControllerOptions,
    hot_loop::HotLoops,
    metrics::ControllerMetrics,
    worker::{Worker, panic_message},
};
use crate::{
    handler::RequestType,
    manager::Manager,
    reconcile::{DynReconciler, Request},
    source::{DynSource, SourceContext, Spawned},
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
    name: Arc<str>,
    sources: Vec<Box<dyn DynSource<R>>>,
    reconciler: Arc<dyn DynReconciler<R>>,
    queue: QueueOptions<R>,
    options: ControllerOptions,
}

impl Controller<Request> {
    /// A controller whose requests are keys of objects.
    pub fn builder(manager: &Manager) -> Builder<Request> {
        Builder::new(manager)
    }

    /// A controller with requests of another type.
    pub fn typed<R: RequestType>(manager: &Manager) -> Builder<R> {
        Builder::new(manager)
    }
}

impl<R: RequestType> Controller<R> {
    pub(super) fn new(
        name: String,
        sources: Vec<Box<dyn DynSource<R>>>,
        reconciler: Arc<dyn DynReconciler<R>>,
        queue: QueueOptions<R>,
        options: ControllerOptions,
    ) -> Self {
        Self { name: name.into(), sources, reconciler, queue, options }
    }

    /// The name in logs and metrics.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs until `cancel` fires. Then sources and queue stop, and workers finish the reconcile that they hold.
    ///
    /// The first reconcile starts when all sources have synced: every object of the initial lists is in the queue by then, and in the cache.
    ///
    /// # Errors
    /// [`ControllerError`] if a source does not start, does not sync, or dies.
    ///
    /// # Cancel safety
    /// Dropped, it aborts its sources and workers; reconciles stop at their next await point.
    pub async fn start(self, cancel: CancellationToken) -> Result<(), ControllerError> {
        let queue = Queue::new(self.queue);
        let stop = cancel.child_token();
        let mut tasks = Tasks::new();
        let sync_timeout = self.options.cache_sync_timeout;
        let sources = self.sources.into_iter().map(|source| {
            let context = SourceContext::new(stop.clone(), sync_timeout, tasks.spawner());
            start_source(source, context, queue.clone(), sync_timeout)
        });
        let starting = try_join_all(sources.collect::<Vec<_>>());
        let mut result = tasks.supervise(stop.run_until_cancelled(starting)).await;
        if let Ok(Some(Ok(_))) = &result {
            let workers = self.options.max_concurrent_reconciles.get();
            let metrics = Arc::new(ControllerMetrics::new(&self.name, workers));
            let hot_loops = Arc::new(Mutex::new(HotLoops::new()));
            for _ in 0..workers {
                let worker = Worker {
                    controller: Arc::clone(&self.name),
                    queue: queue.clone(),
                    reconciler: Arc::clone(&self.reconciler),
                    reconciliation_timeout: self.options.reconciliation_timeout,
                    recover_panic: self.options.recover_panic,
                    cancel: stop.clone(),
                    metrics: Arc::clone(&metrics),
                    hot_loops: Arc::clone(&hot_loops),
                };
                tasks.running.spawn(worker.work());
            }
            tracing::info!(controller = &*self.name, workers, "started workers");
            result = tasks.supervise(stop.cancelled()).await.map(|()| None);
        }
        stop.cancel();
        queue.shut_down();
        let joined = tasks.join().await;
        result?.transpose()?;
        joined
    }
}

/// Starts a source and waits until it has synced.
async fn start_source<R: RequestType>(
    source: Box<dyn DynSource<R>>,
    context: SourceContext,
    queue: Queue<R>,
    limit: Duration,
) -> Result<(), ControllerError> {
    let name = source.name();
    match timeout(limit, source.start(context.clone(), queue)).await {
        Err(_) => return Err(ControllerError::SourceBlocks { name, timeout: limit }),
        Ok(Err(source)) => return Err(ControllerError::SourceStart { name, source }),
        Ok(Ok(())) => {}
    }
    // What a source waits for may have a better word for its delay than "timed out": it gets the time that it was promised, and a little more.
    match timeout(limit + SYNC_GRACE, try_join_all(context.take_syncs())).await {
        Err(_) => Err(ControllerError::SourceSyncTimeout { name, timeout: limit }),
        Ok(Err(source)) => Err(ControllerError::SourceSync { name, source }),
        Ok(Ok(_)) => Ok(()),
    }
}

/// The tasks of a controller: those of its sources, and its workers.
struct Tasks {
    running: JoinSet<()>,
    to_spawn: mpsc::UnboundedReceiver<Spawned>,
    spawner: mpsc::UnboundedSender<Spawned>,
}

impl Tasks {
    fn new() -> Self {
        let (spawner, to_spawn) = mpsc::unbounded_channel();
        Self { running: JoinSet::new(), to_spawn, spawner }
    }

    fn spawner(&self) -> mpsc::UnboundedSender<Spawned> {
        self.spawner.clone()
    }

    /// Runs `until`, and the tasks beside it. A task that panics ends it.
    async fn supervise<T>(&mut self, until: impl Future<Output = T>) -> Result<T, ControllerError> {
        tokio::pin!(until);
        loop {
            tokio::select! {
                // In this order, a panic is reported even when it is what `until` was waiting for.
                biased;
                Some(ended) = self.running.join_next() => ended.map_err(panicked)?,
                Some(task) = self.to_spawn.recv() => { self.running.spawn(task); }
                done = &mut until => return Ok(done),
            }
        }
    }

    /// Waits for the tasks that are left.
    async fn join(mut self) -> Result<(), ControllerError> {
        let mut result = Ok(());
        while let Some(ended) = self.running.join_next().await {
            result = result.and(ended.map_err(panicked));
        }
        result
    }
}

fn panicked(error: JoinError) -> ControllerError {
    let message = match error.try_into_panic() {
        Ok(panic) => panic_message(&*panic),
        Err(aborted) => aborted.to_string(),
    };
    ControllerError::Panicked(message)
}

/// How much longer than a source the controller waits.
const SYNC_GRACE: Duration = Duration::from_secs(1);

impl<R: RequestType> fmt::Debug for Controller<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

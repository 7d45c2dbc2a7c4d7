//! What a source is given when it starts.

use std::{borrow::Cow, fmt, pin::Pin, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::SourceMetrics;
use crate::{BoxError, object::ObjectKey};

/// A task that a source has started.
pub(crate) type Spawned = Pin<Box<dyn Future<Output = Result<(), SourceFailure>> + Send>>;

/// A source that cannot go on.
#[derive(Debug)]
pub(crate) struct SourceFailure {
    pub(crate) name: Cow<'static, str>,
    pub(crate) error: BoxError,
}

/// Something that has to happen before the first reconcile.
pub(crate) type SyncFuture = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

/// A source's end of its controller.
#[derive(Clone)]
pub struct SourceContext {
    cancel: CancellationToken,
    sync_timeout: Duration,
    /// To the controller, which owns the tasks. As many messages as a source has tasks, so the channel needs no bound.
    tasks: mpsc::UnboundedSender<Spawned>,
    /// Counts them.
    running: TaskTracker,
    syncs: Arc<Mutex<Vec<SyncFuture>>>,
    progress: watch::Sender<SyncProgress>,
    /// The object that the source works on, while somebody waits for it to sync.
    at_work: Arc<Mutex<Option<ObjectKey>>>,
    metrics: SourceMetrics,
}

/// How far a source is with what it has to do before the first reconcile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncProgress {
    /// How much of it is done.
    pub handled: usize,
    /// How much there is, as far as is known.
    pub total: usize,
}

impl fmt::Display for SyncProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} handled", self.handled, self.total)
    }
}

impl SourceContext {
    pub(crate) fn new(
        cancel: CancellationToken,
        sync_timeout: Duration,
        tasks: mpsc::UnboundedSender<Spawned>,
        metrics: SourceMetrics,
    ) -> Self {
        Self {
            cancel,
            sync_timeout,
            tasks,
            running: TaskTracker::new(),
            syncs: Arc::default(),
            progress: watch::Sender::default(),
            at_work: Arc::default(),
            metrics,
        }
    }

    /// Runs `task` until it ends or the controller stops. The controller owns it: a panic in it stops the controller.
    ///
    /// # Cancel safety
    /// When the controller stops, `task` is dropped at an await point.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_fallible(async move {
            task.await;
            Ok(())
        });
    }

    /// As [`spawn`](Self::spawn); a failure stops the controller.
    pub(crate) fn spawn_fallible(
        &self,
        task: impl Future<Output = Result<(), SourceFailure>> + Send + 'static,
    ) {
        let cancel = self.cancel.clone();
        let task = async move { cancel.run_until_cancelled_owned(task).await.unwrap_or(Ok(())) };
        // A controller that is gone has no use for the task, and the send fails only then.
        let _ = self.tasks.send(Box::pin(self.running.track_future(task)));
    }

    /// Holds back the first reconcile of the controller until `synced` is done.
    ///
    /// An error stops the controller; so does more time than [`sync_timeout`](Self::sync_timeout) without [`progress`](Self::progress).
    pub fn sync_on(&self, synced: impl Future<Output = Result<(), BoxError>> + Send + 'static) {
        self.syncs.lock().push(Box::pin(synced));
    }

    /// Says how far the source is with what holds back the first reconcile: each call that gets further starts
    /// [`sync_timeout`](Self::sync_timeout) anew, and an error that comes nevertheless says how far it got.
    pub fn progress(&self, progress: SyncProgress) {
        self.progress.send_if_modified(|known| {
            let further = progress.handled > known.handled;
            if further {
                *known = progress;
            }
            further
        });
    }

    /// Says which object the source works on from now on: if it gets no further, the error that says so names it.
    pub fn works_on(&self, object: &ObjectKey) {
        // Nobody asks any more once the source has synced.
        if self.progress.receiver_count() > 0 {
            *self.at_work.lock() = Some(object.clone());
        }
    }

    /// How long the controller waits for its sources while they get no further.
    pub fn sync_timeout(&self) -> Duration {
        self.sync_timeout
    }

    /// Fires when the controller stops.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Counts an event that `source` could not handle.
    pub(super) fn count_failure(&self, source: &str, reason: &str) {
        self.metrics.count_failure(source, reason);
    }

    pub(crate) fn watch_progress(&self) -> watch::Receiver<SyncProgress> {
        self.progress.subscribe()
    }

    pub(crate) fn at_work(&self) -> Option<ObjectKey> {
        self.at_work.lock().clone()
    }

    /// Stops the source, and waits until none of its tasks runs any more.
    pub(crate) async fn stop(&self) {
        self.cancel.cancel();
        self.running.close();
        self.running.wait().await;
    }

    pub(crate) fn take_syncs(&self) -> Vec<SyncFuture> {
        std::mem::take(&mut self.syncs.lock())
    }
}

impl fmt::Debug for SourceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceContext").field("sync_timeout", &self.sync_timeout).finish_non_exhaustive()
    }
}

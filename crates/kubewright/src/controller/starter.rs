//! Starts sources, and waits until they have synced.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures::{FutureExt as _, future::try_join_all};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use super::ControllerError;
use crate::{
    BoxError, error,
    reconcile::RequestType,
    source::{DynSource, SourceContext, SourceMetrics, Spawned},
    workqueue::Queue,
};

/// What a source needs of its controller.
#[derive(Clone)]
pub(super) struct Starter<R: RequestType> {
    pub(super) queue: Queue<R>,
    pub(super) tasks: mpsc::UnboundedSender<Spawned>,
    pub(super) sync_timeout: Duration,
    pub(super) metrics: SourceMetrics,
}

impl<R: RequestType> Starter<R> {
    /// The context of a source, which stops when `cancel` fires.
    pub(super) fn context(&self, cancel: CancellationToken) -> SourceContext {
        SourceContext::new(cancel, self.sync_timeout, self.tasks.clone(), self.metrics.clone())
    }

    /// Starts `source` in `context`, and waits until it has synced.
    pub(super) async fn start(
        self,
        source: Box<dyn DynSource<R>>,
        context: SourceContext,
    ) -> Result<(), ControllerError> {
        let (name, limit) = (source.name(), self.sync_timeout);
        let mut progress = context.watch_progress();
        let start = contained(async { source.start(context.clone(), self.queue).await });
        match timeout(limit, start).await {
            Err(_) => return Err(ControllerError::SourceBlocks { name, timeout: limit }),
            Ok(Err(source)) => return Err(ControllerError::SourceStart { name, source }),
            Ok(Ok(())) => {}
        }
        let synced = try_join_all(context.take_syncs().into_iter().map(contained));
        tokio::pin!(synced);
        // What a source waits for may have a better word for its delay than "timed out": it gets the time that it was promised, and a little
        // more.
        let patience = limit.saturating_add(SYNC_GRACE);
        loop {
            tokio::select! {
                biased;
                synced = &mut synced => {
                    return synced.map(drop).map_err(|source| ControllerError::SourceSync { name, source });
                }
                further = timeout(patience, progress.changed()) => if further.is_err() {
                    let (progress, at_work) = (*progress.borrow(), context.at_work());
                    return Err(ControllerError::SourceSyncTimeout { name, timeout: limit, progress, at_work });
                },
            }
        }
    }
}

/// A panic is an error of the source: it must not take a running controller with it.
async fn contained(work: impl Future<Output = Result<(), BoxError>>) -> Result<(), BoxError> {
    let ended = AssertUnwindSafe(work).catch_unwind().await;
    ended.unwrap_or_else(|panic| Err(format!("panicked: {}", error::panic_message(&*panic)).into()))
}

/// How much longer than a source the controller waits.
const SYNC_GRACE: Duration = Duration::from_secs(1);

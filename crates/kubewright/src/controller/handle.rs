//! A controller as those see it who gave it away.

use std::{fmt, sync::Arc};

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::ControllerError;
use crate::{
    reconcile::Request,
    reconcile::RequestType,
    source::{DynSource, Source},
};

/// Adds watches to a controller, before its start or while it runs.
///
/// Cheap to clone. The controller does not need it: dropping it changes nothing.
#[derive(Clone)]
pub struct ControllerHandle<R: RequestType = Request> {
    name: Arc<str>,
    /// A message for each watch that the process ever adds, so the channel needs no bound.
    additions: mpsc::UnboundedSender<Addition<R>>,
    stop: CancellationToken,
}

/// A watch that was added by hand. Dropping the handle changes nothing.
#[derive(Debug)]
pub struct WatchHandle {
    cancel: CancellationToken,
    /// `None` once it has been heard.
    started: Option<oneshot::Receiver<Result<(), ControllerError>>>,
}

/// A source on its way to the controller.
pub(super) struct Addition<R: RequestType> {
    pub(super) source: Box<dyn DynSource<R>>,
    pub(super) cancel: CancellationToken,
    pub(super) started: oneshot::Sender<Result<(), ControllerError>>,
}

impl<R: RequestType> ControllerHandle<R> {
    pub(super) fn new(
        name: Arc<str>,
        stop: CancellationToken,
    ) -> (Self, mpsc::UnboundedReceiver<Addition<R>>) {
        let (additions, receiver) = mpsc::unbounded_channel();
        (Self { name, additions, stop }, receiver)
    }

    /// The controller's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a source. Before the controller starts, it is one more of its sources, and its failure stops the controller. Later it starts at
    /// once, beside the workers; its failure is told to the returned handle alone.
    ///
    /// # Example: watch a kind once its CRD is there
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::ConfigMap;
    /// # use kubewright::{controller::{ControllerError, ControllerHandle}, handler, manager::Manager, source};
    /// # async fn example(controller: ControllerHandle, manager: Manager) -> Result<(), ControllerError> {
    /// let mut watch = controller.watch(source::kind::<ConfigMap, _>(manager.cache(), handler::enqueue_request_for_object()));
    /// watch.synced().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: controller-runtime `controller.TypedController.Watch`.
    pub fn watch(&self, source: impl Source<R>) -> WatchHandle {
        let (started, receiver) = oneshot::channel();
        let cancel = self.stop.child_token();
        // A controller that has ended drops the message, and with it the sender: the handle says so.
        let _ = self.additions.send(Addition { source: Box::new(source), cancel: cancel.clone(), started });
        WatchHandle { cancel, started: Some(receiver) }
    }
}

impl WatchHandle {
    /// Waits until the source has started and synced.
    ///
    /// # Errors
    /// What the source says, the first time; [`ControllerError::Stopped`] if the controller has ended.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub async fn synced(&mut self) -> Result<(), ControllerError> {
        let Some(started) = &mut self.started else { return Ok(()) };
        let result = started.await.map_err(|_| ControllerError::Stopped);
        self.started = None;
        result?
    }

    /// Stops the source: no more requests come from it. Those that it has enqueued are still reconciled. An informer that it used goes on for
    /// others who use it; a minute after the last of them it ends, see [`cache`](crate::cache).
    pub fn stop(self) {
        self.cancel.cancel();
    }
}

impl<R: RequestType> fmt::Debug for ControllerHandle<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerHandle").field("name", &self.name).finish_non_exhaustive()
    }
}

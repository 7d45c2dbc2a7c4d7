//! Where events come from: what starts with a controller and puts requests into its queue.
//!
//! [`kind()`] watches a kind, [`channel()`] listens to a channel, [`interval()`] enqueues on a timer; any type that implements [`Source`] gets the
//! queue and does with it what it likes.

mod channel;
mod context;
mod delivery;
mod func;
mod interval;
mod kind;
mod metrics;
mod waiting;

use std::{borrow::Cow, pin::Pin};

pub use channel::{Channel, RequestChannel, channel, requests};
pub use context::{SourceContext, SyncProgress};
pub(crate) use context::{SourceFailure, Spawned};
pub use func::{Func, func};
pub use interval::{Interval, interval};
pub use kind::{KindSource, informer, informer_as, kind, kind_as};
pub(crate) use metrics::SourceMetrics;

use crate::{BoxError, reconcile::Request, reconcile::RequestType, workqueue::Queue};

/// Puts requests into a controller's queue.
///
/// # Example: a source of one's own
/// ```
/// use std::time::Duration;
/// use kubewright::{BoxError, reconcile::Request, source::{Source, SourceContext}, workqueue::Queue};
///
/// /// Enqueues one object each half hour.
/// struct HalfHourly(Request);
///
/// impl Source for HalfHourly {
///     async fn start(self, context: SourceContext, queue: Queue<Request>) -> Result<(), BoxError> {
///         context.spawn(async move {
///             let mut ticks = tokio::time::interval(Duration::from_secs(1800));
///             loop {
///                 ticks.tick().await;
///                 queue.add_rate_limited(self.0.clone());
///             }
///         });
///         Ok(())
///     }
/// }
/// ```
///
/// Source: controller-runtime `source.TypedSource` and `source.TypedSyncingSource`.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a source of requests `{R}`")]
pub trait Source<R: RequestType = Request>: Send + 'static {
    /// Starts the source; called once, when the controller starts.
    ///
    /// Does not block: what goes on for longer is handed to [`SourceContext::spawn`], which the controller owns and stops. What has to be done
    /// before the first reconcile is handed to [`SourceContext::sync_on`].
    ///
    /// # Errors
    /// An error stops the controller, and with it the manager.
    fn start(
        self,
        context: SourceContext,
        queue: Queue<R>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// The name in logs and errors; the type's name by default.
    fn name(&self) -> Cow<'static, str> {
        std::any::type_name::<Self>().into()
    }
}

/// [`Source`] as a value.
pub(crate) trait DynSource<R: RequestType>: Send + 'static {
    fn start(
        self: Box<Self>,
        context: SourceContext,
        queue: Queue<R>,
    ) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

    fn name(&self) -> Cow<'static, str>;
}

impl<R: RequestType, T: Source<R>> DynSource<R> for T {
    fn start(
        self: Box<Self>,
        context: SourceContext,
        queue: Queue<R>,
    ) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>> {
        Box::pin(Source::start(*self, context, queue))
    }

    fn name(&self) -> Cow<'static, str> {
        Source::name(self)
    }
}

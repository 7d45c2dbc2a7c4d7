//! The trait that authors implement, and the boxed twin that workers call.

use std::{pin::Pin, sync::Arc};

use super::{Action, Context, Request};
use crate::{BoxError, error};

/// Drives the world to what the object of a request says.
///
/// A reconcile of one request never overlaps with another of the same request. An error is logged, counted and retried with backoff,
/// unless it is a [`TerminalError`](super::TerminalError); a panic is an error.
///
/// # Cancel safety
/// A reconcile is dropped at an await point when its deadline passes, or when the grace period of a shutdown ends: what it has written
/// by then stays, and the next run goes on from there.
///
/// Source: controller-runtime `reconcile.TypedReconciler`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reconcile `{R}`",
    note = "implement `Reconciler`, or pass a closure through `reconcile::from_fn`"
)]
pub trait Reconciler<R = Request>: Send + Sync + 'static {
    /// What goes wrong; anything that becomes a boxed error.
    type Error: Into<BoxError> + 'static;

    /// Looks at the object of `request` and does what is missing.
    fn reconcile(
        &self,
        context: Context,
        request: R,
    ) -> impl Future<Output = Result<Action, Self::Error>> + Send;
}

impl<R: Send + 'static, T: Reconciler<R>> Reconciler<R> for Arc<T> {
    type Error = T::Error;

    fn reconcile(
        &self,
        context: Context,
        request: R,
    ) -> impl Future<Output = Result<Action, Self::Error>> + Send {
        T::reconcile(self, context, request)
    }
}

/// [`Reconciler`] without its types, so that the worker loop is compiled once for each request type.
pub(crate) trait DynReconciler<R>: Send + Sync + 'static {
    fn reconcile(
        &self,
        context: Context,
        request: R,
    ) -> Pin<Box<dyn Future<Output = Result<Action, BoxError>> + Send + '_>>;
}

impl<R: Send + 'static, T: Reconciler<R>> DynReconciler<R> for T {
    fn reconcile(
        &self,
        context: Context,
        request: R,
    ) -> Pin<Box<dyn Future<Output = Result<Action, BoxError>> + Send + '_>> {
        Box::pin(async move { Reconciler::reconcile(self, context, request).await.map_err(error::boxed) })
    }
}

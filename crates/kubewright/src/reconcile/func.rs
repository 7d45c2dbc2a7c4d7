//! A function as a reconciler.

use std::fmt;

use super::{Action, Context, Reconciler};
use crate::BoxError;

/// Reconciles by calling `reconcile`; for a reconciler that is too small for a type of its own.
///
/// Source: controller-runtime `reconcile.TypedFunc`.
///
/// # Example: print what happens
/// ```
/// use kubewright::{BoxError, reconcile::{self, Action, Context, Request}};
///
/// let reconciler = reconcile::from_fn(|_context: Context, request: Request| async move {
///     println!("{request} exists, has changed, or is gone");
///     Ok::<_, BoxError>(Action::await_change())
/// });
/// # let _ = reconciler;
/// ```
pub fn from_fn<R, E, Fut, F>(reconcile: F) -> FromFn<F>
where
    E: Into<BoxError> + 'static,
    Fut: Future<Output = Result<Action, E>> + Send,
    F: Fn(Context, R) -> Fut + Send + Sync + 'static,
{
    FromFn { reconcile }
}

/// See [`from_fn`].
#[derive(Clone, Copy)]
pub struct FromFn<F> {
    reconcile: F,
}

impl<R, E, Fut, F> Reconciler<R> for FromFn<F>
where
    E: Into<BoxError> + 'static,
    Fut: Future<Output = Result<Action, E>> + Send,
    F: Fn(Context, R) -> Fut + Send + Sync + 'static,
{
    type Error = E;

    fn reconcile(&self, context: Context, request: R) -> impl Future<Output = Result<Action, E>> + Send {
        (self.reconcile)(context, request)
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromFn")
    }
}

//! A function as a source.

use std::{borrow::Cow, fmt};

use super::{Source, SourceContext};
use crate::{BoxError, reconcile::RequestType, workqueue::Queue};

/// Starts by calling `start`; for a source that is too small for a type of its own.
///
/// Source: controller-runtime `source.TypedFunc`.
///
/// # Example: one request at the start
/// ```
/// use kubewright::{reconcile::Request, source, workqueue::Queue};
///
/// let source = source::func(|_context, queue: Queue<Request>| async move {
///     queue.add(Request::new("default", "first"));
///     Ok(())
/// });
/// # let _ = source;
/// ```
pub fn func<R, Fut, F>(start: F) -> Func<F>
where
    R: RequestType,
    Fut: Future<Output = Result<(), BoxError>> + Send,
    F: FnOnce(SourceContext, Queue<R>) -> Fut + Send + 'static,
{
    Func { start }
}

/// See [`func`].
pub struct Func<F> {
    start: F,
}

impl<R, Fut, F> Source<R> for Func<F>
where
    R: RequestType,
    Fut: Future<Output = Result<(), BoxError>> + Send,
    F: FnOnce(SourceContext, Queue<R>) -> Fut + Send + 'static,
{
    fn start(
        self,
        context: SourceContext,
        queue: Queue<R>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send {
        (self.start)(context, queue)
    }

    fn name(&self) -> Cow<'static, str> {
        format!("func source: {}", std::any::type_name::<F>()).into()
    }
}

impl<F> fmt::Debug for Func<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Func")
    }
}

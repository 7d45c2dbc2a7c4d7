//! What becomes of a request that panics.

use std::{any::Any, panic::AssertUnwindSafe};

use futures::FutureExt;
use http::{Response, StatusCode};
use tracing::error;

use super::filter::{Answer, Filter, Next};
use crate::wire::{Body, text_response};

/// Answers a request that panics, and lets the others go on.
///
/// Source: apiserver `filters.WithPanicRecovery`.
#[derive(Debug, Clone)]
pub(in crate::door) struct PanicRecovery;

impl<R: Send + 'static, S: Next<R>> Filter<R, S> for PanicRecovery {
    async fn pass(self, request: R, mut next: S) -> Answer {
        let answer = async move { next.call(request).await };
        let answered = AssertUnwindSafe(answer).catch_unwind().await;
        answered.unwrap_or_else(|panic| Ok(panicked(&*panic)))
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Response<Body> {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
    error!(panic = message, "a request ended in a panic");
    let text = "This request caused apiserver to panic. Look in the logs for details.\n";
    text_response(StatusCode::INTERNAL_SERVER_ERROR, text)
}

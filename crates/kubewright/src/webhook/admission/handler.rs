//! What answers an admission request.

use std::{future::Future, pin::Pin};

use super::{AdmissionRequest, AdmissionResponse};

/// Judges admission requests as they come, without a type. [`Defaulter`](super::Defaulter) and [`Validator`](super::Validator) are what most webhooks need.
///
/// Source: controller-runtime `admission.Handler`.
#[diagnostic::on_unimplemented(message = "`{Self}` answers no admission requests")]
pub trait Handler: Send + Sync + 'static {
    /// Judges one request. A panic is an answer, too: the request does not pass.
    fn handle(&self, request: &AdmissionRequest) -> impl Future<Output = AdmissionResponse> + Send;
}

/// [`Handler`] as a value.
pub(super) trait DynHandler: Send + Sync + 'static {
    fn handle<'a>(
        &'a self,
        request: &'a AdmissionRequest,
    ) -> Pin<Box<dyn Future<Output = AdmissionResponse> + Send + 'a>>;
}

impl<H: Handler> DynHandler for H {
    fn handle<'a>(
        &'a self,
        request: &'a AdmissionRequest,
    ) -> Pin<Box<dyn Future<Output = AdmissionResponse> + Send + 'a>> {
        Box::pin(Handler::handle(self, request))
    }
}

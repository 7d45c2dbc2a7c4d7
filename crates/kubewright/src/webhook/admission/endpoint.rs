//! Admission over HTTP.

use std::{panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use futures::FutureExt;
use http::{Request, StatusCode, header};
use prometheus::IntCounter;

use super::{
    AdmissionRequest, AdmissionResponse, Handler,
    handler::DynHandler,
    request::{Review, ReviewVersion},
};
use crate::{
    error::panic_message,
    http_server::{Answer, Answering, BodyError, Endpoint, json},
};

/// A [`Handler`] behind a path. The HTTP status is always 200; what went wrong is in the response, which does not pass.
///
/// Source: controller-runtime `pkg/webhook/admission/http.go`.
#[derive(Clone)]
pub(in crate::webhook) struct AdmissionEndpoint {
    handler: Arc<dyn DynHandler>,
    panics: IntCounter,
}

impl AdmissionEndpoint {
    pub(in crate::webhook) fn new(handler: impl Handler, panics: IntCounter) -> Self {
        Self { handler: Arc::new(handler), panics }
    }

    async fn review(&self, request: &Request<Bytes>) -> Answer {
        let (version, request) = match read(request) {
            Ok(read) => read,
            Err(message) => return refuse(&AdmissionResponse::errored(StatusCode::BAD_REQUEST, message)),
        };
        // Its call may panic as well as its future.
        let handled = AssertUnwindSafe(async { self.handler.handle(&request).await }).catch_unwind().await;
        let response = handled.unwrap_or_else(|panic| {
            self.panics.inc();
            let message = panic_message(&*panic);
            tracing::error!(panic = message, uid = request.uid, "an admission handler panicked");
            let message = format!("panic: {message} [recovered]");
            AdmissionResponse::errored(StatusCode::INTERNAL_SERVER_ERROR, message)
        });
        json(&response.review(&version, &request))
    }
}

impl Endpoint for AdmissionEndpoint {
    fn refuse(&self, error: &BodyError) -> Answer {
        refuse(&AdmissionResponse::errored(error.status(), error.to_string()))
    }

    fn answer(&self, request: Request<Bytes>) -> Answering {
        let endpoint = self.clone();
        Box::pin(async move { endpoint.review(&request).await })
    }
}

/// The question; or what is wrong with it.
fn read(request: &Request<Bytes>) -> Result<(ReviewVersion, AdmissionRequest), String> {
    if request.body().is_empty() {
        return Err("request body is empty".to_owned());
    }
    let content_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    if content_type != Some(b"application/json") {
        let found = String::from_utf8_lossy(content_type.unwrap_or_default());
        return Err(format!("contentType={found}, expected application/json"));
    }
    let review: Review = serde_json::from_slice(request.body()).map_err(|failed| failed.to_string())?;
    let version = review.version.or_default();
    if !version.is_known() {
        return Err(format!("unknown review {} {}", version.api_version, version.kind));
    }
    let request = review.request.ok_or_else(|| "got an empty request".to_owned())?;
    Ok((version, request))
}

/// An answer to what could not be read: without a uid, since there is none.
fn refuse(response: &AdmissionResponse) -> Answer {
    json(&response.clone().review(&ReviewVersion::default(), &AdmissionRequest::default()))
}

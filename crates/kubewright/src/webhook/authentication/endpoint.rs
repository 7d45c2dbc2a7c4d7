//! Authentication over HTTP.

use std::{panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use futures::FutureExt;
use http::{Request, header};

use super::{
    AuthenticationResponse, Authenticator,
    authenticator::DynAuthenticator,
    request::{Review, ReviewMetadata, ReviewVersion, TokenRequest},
};
use crate::{
    error::panic_message,
    http_server::{Answer, Answering, BodyError, Endpoint, json},
};

/// An [`Authenticator`] behind a path. The HTTP status is always 200; what went wrong is in the response, which authenticates nobody.
///
/// Source: controller-runtime `pkg/webhook/authentication/http.go`.
#[derive(Clone)]
pub(in crate::webhook) struct AuthenticationEndpoint {
    authenticator: Arc<dyn DynAuthenticator>,
}

impl AuthenticationEndpoint {
    pub(in crate::webhook) fn new(authenticator: impl Authenticator) -> Self {
        Self { authenticator: Arc::new(authenticator) }
    }

    async fn review(&self, request: &Request<Bytes>) -> Answer {
        let review = match read(request) {
            Ok(review) => review,
            Err(reason) => return refuse(reason),
        };
        let version = review.version.or_default();
        if !version.is_known() {
            return refuse(format!("unsupported review {}, Kind={}", version.api_version, version.kind));
        }
        let response = self.judge(&review.spec).await;
        json(&response.review(version, review.metadata))
    }

    async fn judge(&self, request: &TokenRequest) -> AuthenticationResponse {
        if request.token.is_empty() {
            return AuthenticationResponse::errored("token is empty");
        }
        // Its call may panic as well as its future.
        let judging = AssertUnwindSafe(async { self.authenticator.authenticate(request).await });
        judging.catch_unwind().await.unwrap_or_else(|panic| {
            let message = panic_message(&*panic);
            tracing::error!(panic = message, "an authenticator panicked");
            AuthenticationResponse::errored(format!("panic: {message} [recovered]"))
        })
    }
}

impl Endpoint for AuthenticationEndpoint {
    fn max_body_bytes(&self) -> usize {
        1 << 20
    }

    fn refuse(&self, error: &BodyError) -> Answer {
        refuse(error.to_string())
    }

    fn answer(&self, request: Request<Bytes>) -> Answering {
        let endpoint = self.clone();
        Box::pin(async move { endpoint.review(&request).await })
    }
}

/// The question; or what is wrong with it. Texts never quote the body, which holds a token.
fn read(request: &Request<Bytes>) -> Result<Review, String> {
    if request.body().is_empty() {
        return Err("request body is empty".to_owned());
    }
    let content_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    if content_type != Some(b"application/json") {
        let found = String::from_utf8_lossy(content_type.unwrap_or_default());
        return Err(format!("contentType={found}, expected application/json"));
    }
    serde_json::from_slice(request.body()).map_err(|failed| {
        format!("failed to decode the review at line {} column {}", failed.line(), failed.column())
    })
}

fn refuse(reason: String) -> Answer {
    let response = AuthenticationResponse::errored(reason);
    json(&response.review(ReviewVersion::default(), ReviewMetadata::default()))
}

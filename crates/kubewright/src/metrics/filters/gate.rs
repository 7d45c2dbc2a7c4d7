//! Lets requests pass, or not.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode, request::Parts};

use super::{authentication::Authentication, authorization::Authorization};
use crate::{
    error,
    http_server::{Answer, Answering, BodyError, Endpoint, text},
};

/// Asks the API server who asks, and whether they may.
pub(crate) struct Gate {
    authentication: Authentication,
    authorization: Authorization,
}

impl Gate {
    pub(crate) fn new(kube: &kube::Client) -> Self {
        Self {
            authentication: Authentication::new(kube.clone()),
            authorization: Authorization::new(kube.clone()),
        }
    }

    /// # Errors
    /// The answer for whoever does not pass.
    pub(super) async fn admit(&self, request: &Parts) -> Result<(), Answer> {
        let user = self.authentication.user(&request.headers).await.map_err(|failure| {
            tracing::error!(error = error::chain(&*failure), "authentication failed");
            text(StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed".to_owned())
        })?;
        let Some(user) = user else {
            return Err(text(StatusCode::UNAUTHORIZED, "Unauthorized".to_owned()));
        };
        let (name, verb) = (user.username.as_deref().unwrap_or_default(), request.method.as_str());
        let may = self.authorization.may(&user, &verb.to_ascii_lowercase(), request.uri.path()).await;
        match may {
            Ok(true) => Ok(()),
            Ok(false) => Err(text(StatusCode::FORBIDDEN, format!("Authorization denied for user {name}"))),
            Err(failure) => {
                tracing::error!(error = error::chain(&*failure), user = name, "authorization failed");
                let line = format!("Authorization for user {name} failed");
                Err(text(StatusCode::INTERNAL_SERVER_ERROR, line))
            }
        }
    }
}

/// An endpoint behind a gate.
pub(crate) struct Guarded {
    pub(crate) gate: Arc<Gate>,
    pub(crate) endpoint: Arc<dyn Endpoint>,
}

impl Endpoint for Guarded {
    fn max_body_bytes(&self) -> usize {
        self.endpoint.max_body_bytes()
    }

    fn refuse(&self, error: &BodyError) -> Answer {
        self.endpoint.refuse(error)
    }

    fn answer(&self, request: Request<Bytes>) -> Answering {
        let (gate, endpoint) = (self.gate.clone(), self.endpoint.clone());
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            match gate.admit(&parts).await {
                Ok(()) => endpoint.answer(Request::from_parts(parts, body)).await,
                Err(refused) => refused,
            }
        })
    }
}

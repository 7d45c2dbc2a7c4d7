//! Who asks webhooks.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    call,
    endpoint::Endpoint,
    services::{ServiceRoute, Services},
};
use crate::identity::Identity;

/// What it takes to ask a webhook.
#[derive(Debug)]
pub(crate) struct Caller {
    services: Services,
    identity: Arc<Identity>,
}

impl Caller {
    /// One that knows no Services yet.
    pub(crate) fn new(identity: Arc<Identity>) -> Self {
        Self { services: Services::default(), identity }
    }

    /// Says where the webhooks behind a Service are.
    pub(crate) fn route_service(&self, namespace: &str, name: &str, route: ServiceRoute) {
        self.services.insert(namespace, name, route);
    }

    /// What a question is called, and its answer.
    pub(crate) fn uid(&self) -> String {
        self.identity.uid()
    }

    /// Sends a question, and gives the body of the answer.
    ///
    /// # Errors
    /// Why there is none, in upstream's words as far as they are about the same.
    pub(crate) async fn ask(&self, endpoint: &Endpoint, question: Vec<u8>) -> Result<Bytes, String> {
        call::ask(&self.services, endpoint, question).await
    }
}

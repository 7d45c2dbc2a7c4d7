//! What both doors lead to.

use std::sync::Arc;

use tokio::sync::watch;

use crate::{
    auth::{Authorizer, Recordings, TokenReader},
    context::UserInfo,
    fault::Faults,
    registry::Cluster,
};

/// What both doors lead to.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) recordings: Arc<Recordings>,
    pub(crate) faults: Faults,
    /// The certificate, in PEM, of the CA of the last door that was opened; empty before.
    pub(crate) root_certificate: watch::Sender<String>,
}

impl TokenReader for Arc<Cluster> {
    fn user(&self, token: &str) -> Option<UserInfo> {
        self.token_user(token)
    }
}

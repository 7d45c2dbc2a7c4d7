//! One webhook that can be asked.

use std::{sync::OnceLock, time::Duration};

use crate::value::Value;
use rustls::ClientConfig;

use super::target::Target;

/// A webhook, as its `clientConfig` says where it is.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(super) target: Target,
    /// How long an answer is waited for.
    pub(super) timeout: Duration,
    /// How it is recognised; made when it is first called.
    pub(super) tls: OnceLock<ClientConfig>,
}

impl Endpoint {
    /// `client` was stored, so that it is valid and has its defaults.
    pub(crate) fn new(client: &Value, timeout: Duration) -> Self {
        Self { target: Target::read(client), timeout, tls: OnceLock::new() }
    }
}

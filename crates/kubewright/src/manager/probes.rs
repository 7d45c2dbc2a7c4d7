//! The manager's health, as the kubelet asks for it.

use std::{net::SocketAddr, sync::Arc};

use super::Manager;
use crate::{
    healthz::{Check, Checks, ChecksEndpoint},
    http_server::{BindAddress, HttpServer, HttpServerOptions, RegisterError},
};

/// Where probes are answered, and under which paths.
#[derive(Clone, Debug)]
pub(super) struct ProbeOptions {
    pub(super) address: BindAddress,
    pub(super) liveness: String,
    pub(super) readiness: String,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self { address: BindAddress::OFF, liveness: "/healthz".to_owned(), readiness: "/readyz".to_owned() }
    }
}

/// The server of probes, and what it answers from.
#[derive(Debug)]
pub(super) struct Probes {
    pub(super) server: HttpServer,
    pub(super) healthz: Checks,
    readyz: Checks,
}

impl Probes {
    pub(super) fn new(options: ProbeOptions) -> Result<Self, RegisterError> {
        let server = HttpServerOptions { address: options.address, ..HttpServerOptions::default() };
        let probes = Self {
            server: HttpServer::new("health probe", server),
            healthz: Checks::default(),
            readyz: Checks::default(),
        };
        probes.mount(&options.liveness, &probes.healthz)?;
        probes.mount(&options.readiness, &probes.readyz)?;
        Ok(probes)
    }

    fn mount(&self, path: &str, checks: &Checks) -> Result<(), RegisterError> {
        let below = format!("{path}/");
        let endpoint = Arc::new(ChecksEndpoint { path: path.to_owned(), checks: checks.clone() });
        self.server.mount_endpoint(path, endpoint.clone())?;
        self.server.mount_endpoint(&below, endpoint)
    }
}

impl Manager {
    /// Adds a check to `/healthz`: the kubelet restarts a container that fails it. An earlier check of the same name is replaced.
    ///
    /// # Differences from Go
    /// Checks may be added at any time. An endpoint without checks answers as one with [`ping`](crate::healthz::ping), upstream's with 404.
    ///
    /// Source: controller-runtime `manager.Manager.AddHealthzCheck`.
    pub fn add_healthz_check(&self, name: impl Into<String>, check: impl Check) {
        self.setup.probes.healthz.add(name.into(), check);
    }

    /// Adds a check to `/readyz`: a pod that fails it gets no requests from its Services. An earlier check of the same name is replaced.
    ///
    /// # Differences from Go
    /// As of [`add_healthz_check`](Self::add_healthz_check).
    ///
    /// Source: controller-runtime `manager.Manager.AddReadyzCheck`.
    pub fn add_readyz_check(&self, name: impl Into<String>, check: impl Check) {
        self.setup.probes.readyz.add(name.into(), check);
    }

    /// Waits until probes are answered, and says where: with port 0, nobody knows before. Pending if
    /// [`health_probe_bind_address`](super::ManagerBuilder::health_probe_bind_address) is off.
    pub async fn health_probe_address(&self) -> SocketAddr {
        self.setup.probes.server.listening().await
    }
}

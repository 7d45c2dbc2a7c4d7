//! The ways from a client to the server.

use std::fmt;

use anyhow::{Context, Result};
use clap::ValueEnum;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use serde::{Deserialize, Serialize};

/// A way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Door {
    /// TLS over loopback.
    Tls,
    /// HTTP over loopback.
    Plain,
    /// No socket: client and server share a process, and the server's CPU counts as the client's.
    InProcess,
}

/// Where a server process listens: a kubeconfig for each of its TCP doors.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Address {
    pub(crate) tls: String,
    pub(crate) plain: String,
}

impl Address {
    /// A client for one of the TCP doors.
    pub(crate) async fn client(&self, door: Door) -> Result<kube::Client> {
        let text = if door == Door::Tls { &self.tls } else { &self.plain };
        let kubeconfig = Kubeconfig::from_yaml(text).context("failed to read the server's kubeconfig")?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(kube::Client::try_from(config)?)
    }
}

impl Door {
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Plain => "plain",
            Self::InProcess => "in-process",
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tls => "TLS",
            Self::Plain => "plain HTTP",
            Self::InProcess => "in process",
        })
    }
}

//! How a webhook server listens, and what it refuses.

use std::{
    net::{Ipv6Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use crate::{
    http_server::{Limits, Protocols},
    metrics::{self, Registry},
    webhook::SelfManagedCertificates,
};

/// How a [`WebhookServer`](super::WebhookServer) listens, and what it refuses.
///
/// Source: controller-runtime `webhook.Options`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WebhookServerOptions {
    /// Where to listen. Default: `[::]:9443`, all addresses; port 0 takes any free port, see [`listening`](super::WebhookServer::listening).
    pub address: SocketAddr,
    /// The folder of the certificate. Default: `k8s-webhook-server/serving-certs` in the folder for temporary files, where kubebuilder's manifests mount it.
    pub certificate_directory: PathBuf,
    /// The file with the certificate chain, PEM. Default: `tls.crt`.
    pub certificate_name: String,
    /// The file with the private key, PEM. Default: `tls.key`.
    pub key_name: String,
    /// Certificates that the server makes for itself; the files are not read then. Default: `None`.
    pub self_managed: Option<SelfManagedCertificates>,
    /// A file of CAs, PEM. With it, clients have to show a certificate that one of them signed. Default: `None`, any client.
    ///
    /// A relative path starts in `certificate_directory`.
    pub client_ca: Option<PathBuf>,
    /// Whether clients may choose HTTP/2. Default: `false`.
    ///
    /// All requests of a connection are then answered in one task. A client that takes back more requests than are answered is cut off.
    #[cfg(feature = "http2")]
    pub http2: bool,
    /// How often the certificate's files are read again. Default: 10 s, as upstream's watcher.
    pub reload_interval: Duration,
    /// How many connections are served at once; more wait to be accepted. Default: 512.
    pub max_connections: usize,
    /// How many bytes of bodies are held at once, over all connections; more wait for `body_timeout`. Default: 64 MiB.
    pub max_bytes_in_flight: usize,
    /// Until when TLS has to be agreed on. Default: 10 s.
    pub handshake_timeout: Duration,
    /// Until when a request's headers have to be there; an idle connection is closed after it, too. Default: 32 s, as upstream's.
    pub header_timeout: Duration,
    /// Until when a request's body has to be there. Default: 30 s.
    pub body_timeout: Duration,
    /// How long a stopping server waits for the requests that it has. Default: 1 min, as upstream's; the manager's grace period may be shorter.
    pub drain_timeout: Duration,
    /// Where requests are counted. Default: the process-wide registry.
    pub metrics_registry: Registry,
}

impl Default for WebhookServerOptions {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv6Addr::UNSPECIFIED, 9443)),
            certificate_directory: std::env::temp_dir().join("k8s-webhook-server").join("serving-certs"),
            certificate_name: "tls.crt".to_owned(),
            key_name: "tls.key".to_owned(),
            self_managed: None,
            client_ca: None,
            #[cfg(feature = "http2")]
            http2: false,
            reload_interval: Duration::from_secs(10),
            max_connections: 512,
            max_bytes_in_flight: 64 << 20,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(32),
            body_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(60),
            metrics_registry: metrics::registry().clone(),
        }
    }
}

impl WebhookServerOptions {
    pub(super) fn limits(&self) -> Limits {
        Limits {
            max_connections: self.max_connections,
            handshake_timeout: self.handshake_timeout,
            header_timeout: self.header_timeout,
            drain_timeout: self.drain_timeout,
        }
    }

    #[cfg(feature = "http2")]
    pub(super) fn protocols(&self) -> Protocols {
        if self.http2 { Protocols::Http1And2 } else { Protocols::Http1 }
    }

    #[cfg(not(feature = "http2"))]
    #[expect(clippy::unused_self, reason = "there is nothing to choose from without the feature")]
    pub(super) fn protocols(&self) -> Protocols {
        Protocols::Http1
    }
}

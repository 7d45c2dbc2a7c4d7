//! `/metrics`, over HTTP.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode};

use super::{
    Registry,
    filters::{Gate, Guarded},
    format::Format,
    process,
};
use crate::http_server::{
    Answering, BindAddress, CertificateReads, Certificates, Endpoint, HttpServer, HttpServerOptions,
    RegisterError, answer,
};

/// How metrics are served.
///
/// Source: controller-runtime `metrics/server.Options`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MetricsServerOptions {
    /// Where to listen. Default: [`BindAddress::OFF`].
    ///
    /// # Differences from Go
    /// Upstream's default is `:8080`, its scaffold's is off: a port is opened by whoever asks for it.
    pub bind_address: BindAddress,
    /// Whether connections are over TLS. Default: `false`.
    pub secure_serving: bool,
    /// The folder of the certificate. Default: `None`, a self-signed one is made for `localhost` at each start.
    pub certificate_directory: Option<PathBuf>,
    /// The file with the certificate chain, PEM. Default: `tls.crt`.
    pub certificate_name: String,
    /// The file with the private key, PEM. Default: `tls.key`.
    pub key_name: String,
    /// Whether clients may choose HTTP/2, where connections are over TLS. Default: `false`.
    ///
    /// All requests of a connection are then answered in one task. A client that takes back more requests than are answered is cut off.
    #[cfg(feature = "http2")]
    pub http2: bool,
    /// Who may read. Default: [`MetricsAccess::Anybody`].
    pub access: MetricsAccess,
}

/// Who may read metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricsAccess {
    /// Who can reach the port.
    #[default]
    Anybody,
    /// Whose token the API server knows, and whom it lets `get` the path: a `TokenReview` and a `SubjectAccessReview` decide, and their answers are remembered as
    /// long as upstream's filter does. Switch on TLS with it, or the token can be read on its way.
    ///
    /// The operator needs `create` on `tokenreviews` and `subjectaccessreviews`; who reads needs `get` on the non-resource URL `/metrics`.
    ///
    /// Source: controller-runtime `metrics/filters.WithAuthenticationAndAuthorization`.
    Authorized,
}

impl Default for MetricsServerOptions {
    fn default() -> Self {
        Self {
            bind_address: BindAddress::OFF,
            secure_serving: false,
            certificate_directory: None,
            certificate_name: "tls.crt".to_owned(),
            key_name: "tls.key".to_owned(),
            #[cfg(feature = "http2")]
            http2: false,
            access: MetricsAccess::Anybody,
        }
    }
}

/// The server of one registry.
pub(crate) struct MetricsServer {
    pub(crate) server: HttpServer,
    gate: Option<Arc<Gate>>,
}

impl MetricsServer {
    /// What is known of the process is measured in `registry`, too, if it is served at all.
    pub(crate) fn new(
        options: MetricsServerOptions,
        registry: &Registry,
        kube: &kube::Client,
    ) -> Result<Self, RegisterError> {
        if !options.bind_address.is_off() {
            process::register(registry);
        }
        let gate = (options.access == MetricsAccess::Authorized).then(|| Arc::new(Gate::new(kube)));
        let reads = registry.shared::<CertificateReads>();
        let server = Self { server: HttpServer::counted("metrics", options.http(), reads), gate };
        server.mount("/metrics", Arc::new(Metrics(registry.clone())))?;
        Ok(server)
    }

    /// Serves something beside the metrics, to whoever may read them.
    pub(crate) fn mount(&self, path: &str, endpoint: Arc<dyn Endpoint>) -> Result<(), RegisterError> {
        let endpoint = match &self.gate {
            None => endpoint,
            Some(gate) => Arc::new(Guarded { gate: gate.clone(), endpoint }),
        };
        self.server.mount_endpoint(path, endpoint)
    }
}

impl MetricsServerOptions {
    fn http(self) -> HttpServerOptions {
        let certificates = self.secure_serving.then(|| match self.certificate_directory {
            None => Certificates::SelfSigned,
            Some(directory) => Certificates::Files {
                chain: directory.join(self.certificate_name),
                key: directory.join(self.key_name),
                reload_interval: Duration::from_secs(10),
            },
        });
        HttpServerOptions {
            address: self.bind_address,
            certificates,
            #[cfg(feature = "http2")]
            http2: self.http2,
            ..HttpServerOptions::default()
        }
    }
}

/// The metrics of a registry, in the form that the client wants.
struct Metrics(Registry);

impl Endpoint for Metrics {
    fn max_body_bytes(&self) -> usize {
        0
    }

    fn answer(&self, request: Request<Bytes>) -> Answering {
        let format = Format::wanted_by(request.headers());
        let text = format.encode(&self.0);
        Box::pin(std::future::ready(answer(StatusCode::OK, format.content_type(), text)))
    }
}

//! TLS 1.2 and 1.3, which is what rustls has.

use std::{path::Path, sync::Arc};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
    server::{VerifierBuilderError, WebPkiClientVerifier, danger::ClientCertVerifier},
};
use thiserror::Error;

use super::certificate::{CertificateError, Shown, read_file};

/// Why a server cannot protect its connections.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The CAs of clients cannot be read.
    #[error("failed to load the cas of clients")]
    ClientCa(#[source] CertificateError),
    /// There is no CA among them that could be used.
    #[error("failed to use the cas of clients")]
    ClientVerifier(#[source] VerifierBuilderError),
    /// A self-signed certificate cannot be made.
    #[error("failed to make a certificate")]
    SelfSigned(#[from] rcgen::Error),
    /// TLS refuses what it was told.
    #[error("failed to configure tls")]
    Config(#[from] rustls::Error),
}

/// Which versions of HTTP a server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocols {
    Http1,
    #[cfg(feature = "http2")]
    Http1And2,
}

impl Protocols {
    fn names(self) -> Vec<Vec<u8>> {
        match self {
            Self::Http1 => vec![b"http/1.1".to_vec()],
            #[cfg(feature = "http2")]
            Self::Http1And2 => vec![super::http2::ALPN.to_vec(), b"http/1.1".to_vec()],
        }
    }
}

/// Shows what `shown` has at the moment of each handshake. With a file of CAs, clients have to show a certificate that one of them signed.
pub(crate) async fn server_config(
    shown: Arc<Shown>,
    client_ca: Option<&Path>,
    protocols: Protocols,
) -> Result<ServerConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = match client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => builder.with_client_cert_verifier(client_verifier(path).await?),
    };
    let mut config = builder.with_cert_resolver(shown);
    config.alpn_protocols = protocols.names();
    Ok(config)
}

async fn client_verifier(path: &Path) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let text = read_file(path).await.map_err(TlsError::ClientCa)?;
    let mut roots = RootCertStore::empty();
    for ca in CertificateDer::pem_slice_iter(&text) {
        let pem = |source| CertificateError::Pem { part: "the cas of clients", source };
        roots.add(ca.map_err(|error| TlsError::ClientCa(pem(error)))?)?;
    }
    let provider = Arc::new(ring::default_provider());
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(TlsError::ClientVerifier)
}

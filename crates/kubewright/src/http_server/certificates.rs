//! Where a server's certificate comes from.

use std::{convert::Infallible, path::PathBuf, sync::Arc, time::Duration};

use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use super::{CertificateReads, Protocols, Shown, TlsError, read_files, server_config};

/// Where the certificate of an [`HttpServer`](super::HttpServer) comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Certificates {
    /// From files in PEM, which are read again and again: a renewed one is shown to the next connection. While there is none, every handshake is refused.
    Files {
        /// The certificate, and those that lead from it to its CA.
        chain: PathBuf,
        /// The private key.
        key: PathBuf,
        /// How often to look. Upstream's: 10 s.
        reload_interval: Duration,
    },
    /// Made at the start, for `localhost`. It keeps what is sent from being read, but no client can tell whose it is.
    SelfSigned,
}

/// Certificates at work.
pub(super) struct Tls {
    certificates: Certificates,
    shown: Arc<Shown>,
    pub(super) acceptor: TlsAcceptor,
}

impl Tls {
    pub(super) async fn new(
        certificates: Certificates,
        reads: CertificateReads,
        protocols: Protocols,
    ) -> Result<Self, TlsError> {
        let shown = Arc::new(Shown::new(reads));
        let acceptor = TlsAcceptor::from(Arc::new(server_config(shown.clone(), None, protocols).await?));
        let tls = Self { certificates, shown, acceptor };
        match &tls.certificates {
            Certificates::Files { .. } => tls.read().await,
            Certificates::SelfSigned => tls.shown.offer(Ok(self_signed()?)),
        }
        Ok(tls)
    }

    /// Keeps what is shown as new as its files are.
    pub(super) async fn follow(&self) -> Infallible {
        let Certificates::Files { reload_interval, .. } = self.certificates else {
            return std::future::pending().await;
        };
        loop {
            sleep(reload_interval).await;
            self.read().await;
        }
    }

    async fn read(&self) {
        if let Certificates::Files { chain, key, .. } = &self.certificates {
            self.shown.offer(read_files(chain, key).await);
        }
    }
}

/// Chain and key, in PEM.
fn self_signed() -> Result<[Vec<u8>; 2], TlsError> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    Ok([made.cert.pem().into_bytes(), made.signing_key.serialize_pem().into_bytes()])
}

//! The certificate of a listener: made for it, with a CA, or given.

use std::{net::IpAddr, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer,
        pem::{self, PemObject},
    },
    server::{VerifierBuilderError, WebPkiClientVerifier},
};
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

/// What a listener shows, and what clients check it with.
pub(super) struct Certificates {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// The certificate of the CA in PEM, where it is known.
    pub(super) ca: Option<String>,
}

/// A certificate for a listener and its key, both in PEM.
#[derive(Clone)]
pub struct ServingCertificate {
    /// The certificate, followed by those that lead to its CA.
    pub chain: String,
    /// The private key: PKCS #8, PKCS #1 or SEC 1.
    pub key: String,
}

impl std::fmt::Debug for ServingCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServingCertificate").field("chain", &self.chain).finish_non_exhaustive()
    }
}

/// Why there are no certificates.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// They could not be signed.
    #[error("failed to sign a certificate")]
    Sign(#[from] rcgen::Error),
    /// What was given is no PEM, or holds nothing of this sort.
    #[error("failed to read {what}")]
    Read {
        /// Which of the texts.
        what: &'static str,
        /// What is wrong with it.
        #[source]
        source: pem::Error,
    },
    /// The clients' CAs cannot be used.
    #[error("failed to use the clients' certificate authorities")]
    ClientCa(#[from] VerifierBuilderError),
    /// TLS does not take them.
    #[error("failed to configure tls")]
    Configure(#[from] rustls::Error),
}

impl Certificates {
    /// Makes a CA, and a certificate for the names under which a test server is reached.
    pub(super) fn generate(address: IpAddr, more: &[String]) -> Result<Self, CertificateError> {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        authority.distinguished_name.push(DnType::CommonName, "kubewright-apiserver-ca");
        let authority_key = KeyPair::generate()?;
        let ca = authority.self_signed(&authority_key)?;
        let issuer = Issuer::new(authority, authority_key);

        let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
        names.push(address.to_string());
        names.extend_from_slice(more);
        let mut server = CertificateParams::new(names)?;
        server.distinguished_name.push(DnType::CommonName, "kubewright-apiserver");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = server.signed_by(&key, &issuer)?;

        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Ok(Self { chain: vec![certificate.der().clone()], key, ca: Some(ca.pem()) })
    }

    /// Takes a certificate that somebody else has made.
    pub(super) fn given(certificate: &ServingCertificate) -> Result<Self, CertificateError> {
        let chain = certificates_in(&certificate.chain, "the serving certificate")?;
        let key = PrivateKeyDer::from_pem_slice(certificate.key.as_bytes()).map_err(|source| {
            CertificateError::Read { what: "the key of the serving certificate", source }
        })?;
        Ok(Self { chain, key, ca: None })
    }

    /// The TLS side of a listener. With CAs for clients, a client may show a certificate of theirs.
    pub(super) fn acceptor(self, client_ca: Option<&str>) -> Result<TlsAcceptor, CertificateError> {
        let provider = Arc::new(ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let builder = match client_ca {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for root in certificates_in(pem, "the certificate authorities of clients")? {
                    roots.add(root)?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.allow_unauthenticated().build()?)
            }
        };
        let mut config = builder.with_single_cert(self.chain, self.key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// The certificates in a PEM text: at least one.
fn certificates_in(text: &str, what: &'static str) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let read = |source| CertificateError::Read { what, source };
    let found: Vec<_> =
        CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<_, _>>().map_err(read)?;
    if found.is_empty() { Err(read(pem::Error::NoItemsFound)) } else { Ok(found) }
}

const NAMES: &[&str] = &[
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

//! A CA and a server certificate, made for one listener.

use std::{net::IpAddr, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

/// What a listener shows, and what clients check it with.
pub(super) struct Certificates {
    pub(super) acceptor: TlsAcceptor,
    /// The certificate of the CA in PEM.
    pub(super) ca: String,
}

/// Why there are no certificates.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// They could not be signed.
    #[error("failed to sign a certificate")]
    Sign(#[from] rcgen::Error),
    /// TLS does not take them.
    #[error("failed to configure tls")]
    Configure(#[from] rustls::Error),
}

impl Certificates {
    /// Makes a CA, and a certificate for the names under which a test server is reached.
    pub(super) fn generate(address: IpAddr) -> Result<Self, CertificateError> {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        authority.distinguished_name.push(DnType::CommonName, "kubewright-apiserver-ca");
        let authority_key = KeyPair::generate()?;
        let ca = authority.self_signed(&authority_key)?;
        let issuer = Issuer::new(authority, authority_key);

        let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
        names.push(address.to_string());
        let mut server = CertificateParams::new(names)?;
        server.distinguished_name.push(DnType::CommonName, "kubewright-apiserver");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = server.signed_by(&key, &issuer)?;

        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), ca: ca.pem() })
    }
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

//! Certificates: made, and read for what the plan has to know.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, date_time_ymd,
};
use rustls::{
    CertificateError, Error, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use x509_parser::parse_x509_certificate;

/// A certificate of a CA or of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Certificate {
    der: CertificateDer<'static>,
    pub(super) life: Life,
    pub(super) is_ca: bool,
    subject: Vec<u8>,
    public_key: Vec<u8>,
}

/// When a certificate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) not_before: Timestamp,
    pub(super) not_after: Timestamp,
}

/// A certificate with its key, in PEM. The key is nowhere printed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) certificate: Certificate,
    pub(super) key: String,
}

impl Life {
    pub(super) fn holds(self, now: Timestamp) -> bool {
        self.not_before <= now && now <= self.not_after
    }

    /// When it was made: it begins a little earlier, for the clocks of others.
    pub(super) fn made(self) -> Timestamp {
        self.not_before.checked_add(CLOCK_SKEW).unwrap_or(Timestamp::MAX)
    }

    /// Whether two thirds of it are over.
    pub(super) fn is_due(self, now: Timestamp) -> bool {
        let (lived, whole) = (now.duration_since(self.made()), self.not_after.duration_since(self.made()));
        lived.as_secs().saturating_mul(3) >= whole.as_secs().saturating_mul(2)
    }
}

impl Certificate {
    /// Reads one; `None` if it is none.
    fn read(der: CertificateDer<'static>) -> Option<Self> {
        let (_, parsed) = parse_x509_certificate(&der).ok()?;
        let time = |seconds| Timestamp::from_second(seconds).ok();
        let validity = parsed.validity();
        let life = Life {
            not_before: time(validity.not_before.timestamp())?,
            not_after: time(validity.not_after.timestamp())?,
        };
        let (is_ca, subject) = (parsed.is_ca(), parsed.subject().as_raw().to_vec());
        let public_key = parsed.tbs_certificate.subject_pki.raw.to_vec();
        Some(Self { der, life, is_ca, subject, public_key })
    }

    /// All certificates of a PEM text; what is none of them is left out.
    pub(super) fn read_all(pem: &[u8]) -> Vec<Self> {
        CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).filter_map(Self::read).collect()
    }

    pub(super) fn pem(&self) -> String {
        let text = STANDARD.encode(&self.der);
        let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
        // The alphabet of base64 has one byte a character.
        for line in text.as_bytes().chunks(64) {
            pem.extend(line.iter().copied().map(char::from));
            pem.push('\n');
        }
        pem + "-----END CERTIFICATE-----\n"
    }

    /// Whether both are of one owner, as far as names say.
    pub(super) fn is_named_as(&self, other: &Self) -> bool {
        self.subject == other.subject
    }

    /// Whether the private key is that of this certificate.
    pub(super) fn is_of(&self, key: &str) -> bool {
        KeyPair::from_pem(key).is_ok_and(|key| key.subject_public_key_info() == self.public_key)
    }

    /// Whether a client that trusts `authorities` accepts it as the one of `name`.
    ///
    /// # Errors
    /// What the client would say.
    pub(super) fn verify(&self, authorities: &[Self], name: &str, now: Timestamp) -> Result<(), Error> {
        let mut roots = RootCertStore::empty();
        // Clients do not look at the dates of what they trust; we do.
        for authority in authorities.iter().filter(|authority| authority.life.holds(now)) {
            roots.add(authority.der.clone())?;
        }
        let nobody = |_| Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()));
        let verifier = verifier.build().map_err(nobody)?;
        let name = ServerName::try_from(name)
            .map_err(|_| Error::InvalidCertificate(CertificateError::NotValidForName))?;
        let seconds = Duration::from_secs(now.as_second().try_into().unwrap_or_default());
        let now = UnixTime::since_unix_epoch(seconds);
        verifier.verify_server_cert(&self.der, &[], &name, &[], now).map(|_| ())
    }
}

impl Pair {
    /// A new CA: ECDSA on P-256, as every client takes it.
    pub(super) fn authority(name: &str, life: Duration, now: Timestamp) -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        live(&mut params, now, until(now, life));
        let key = KeyPair::generate()?;
        Self::of(&params.self_signed(&key)?, &key)
    }

    /// A certificate for a server of these names. It ends with the CA at the latest.
    pub(super) fn signed(
        &self,
        names: &[String],
        life: Duration,
        now: Timestamp,
    ) -> Result<Self, rcgen::Error> {
        let authority_key = KeyPair::from_pem(&self.key)?;
        let issuer = Issuer::from_ca_cert_der(&self.certificate.der, authority_key)?;
        let mut params = CertificateParams::new(names)?;
        if let Some(name) = names.first() {
            params.distinguished_name.push(DnType::CommonName, name);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        live(&mut params, now, until(now, life).min(self.certificate.life.not_after));
        let key = KeyPair::generate()?;
        Self::of(&params.signed_by(&key, &issuer)?, &key)
    }

    fn of(certificate: &rcgen::Certificate, key: &KeyPair) -> Result<Self, rcgen::Error> {
        let certificate =
            Certificate::read(certificate.der().clone()).ok_or(rcgen::Error::CouldNotParseCertificate)?;
        Ok(Self { certificate, key: key.serialize_pem() })
    }
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pair").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

fn live(params: &mut CertificateParams, now: Timestamp, until: Timestamp) {
    let time = |at: Timestamp| {
        date_time_ymd(1970, 1, 1) + Duration::from_secs(at.as_second().try_into().unwrap_or_default())
    };
    params.not_before = time(now.checked_sub(CLOCK_SKEW).unwrap_or(now));
    params.not_after = time(until);
}

fn until(now: Timestamp, life: Duration) -> Timestamp {
    now.checked_add(life).unwrap_or(Timestamp::MAX)
}

/// How far the clocks of replicas and API servers may be behind ours.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_hours(1);

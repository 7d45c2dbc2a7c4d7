//! The certificate that a server shows, and whether it may.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use k8s_openapi::jiff::Timestamp;
use parking_lot::RwLock;
use prometheus::{
    IntCounter,
    core::{Collector, Desc},
    proto::MetricFamily,
};
use rustls::{
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use thiserror::Error;
use x509_parser::parse_x509_certificate;

/// Why a server has no certificate to show.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read: it is not mounted yet, or not for us.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file is not PEM, or has nothing of what it should have.
    #[error("failed to parse the pem of {part}")]
    Pem {
        /// What was to be found there.
        part: &'static str,
        /// What the parser says.
        #[source]
        source: pem::Error,
    },
    /// The certificate is no X.509 certificate.
    #[error("failed to parse the certificate")]
    Parse,
    /// The key is of no use, or belongs to another certificate.
    #[error("failed to use the private key with this certificate")]
    Key(#[source] rustls::Error),
    /// Its time has not come, most likely because the clock of this machine is late.
    #[error("the certificate is not valid before {0}")]
    NotYetValid(Timestamp),
    /// Its time is over, and whoever renews it has not done so.
    #[error("the certificate expired at {0}")]
    Expired(Timestamp),
    /// The server has not looked for one yet.
    #[error("no certificate has been read yet")]
    Missing,
}

/// A certificate chain with its key, and when it holds.
#[derive(Debug)]
pub(crate) struct ServingCertificate {
    key: Arc<CertifiedKey>,
    not_before: Timestamp,
    not_after: Timestamp,
}

impl ServingCertificate {
    pub(crate) fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let pem = |part| move |source| CertificateError::Pem { part, source };
        let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(pem("the certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(pem("the private key"))?;
        let leaf = chain.first().ok_or(CertificateError::Parse)?;
        let (_, parsed) = parse_x509_certificate(leaf).map_err(|_| CertificateError::Parse)?;
        let validity = parsed.validity();
        let time = |seconds| Timestamp::from_second(seconds).map_err(|_| CertificateError::Parse);
        let (not_before, not_after) =
            (time(validity.not_before.timestamp())?, time(validity.not_after.timestamp())?);
        // It refuses a key that belongs to another certificate.
        let key =
            CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(CertificateError::Key)?;
        Ok(Self { key: Arc::new(key), not_before, not_after })
    }

    /// Whether clients that have the time `now` accept it.
    fn check(&self, now: Timestamp) -> Result<(), CertificateError> {
        if now < self.not_before {
            return Err(CertificateError::NotYetValid(self.not_before));
        }
        if now > self.not_after {
            return Err(CertificateError::Expired(self.not_after));
        }
        Ok(())
    }
}

/// What the server shows at the moment. It outlives every connection, and may change between two.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    state: RwLock<State>,
    reads: CertificateReads,
}

#[derive(Debug, Default)]
struct State {
    certificate: Option<ServingCertificate>,
    /// Why the newest files could not be taken.
    problem: Option<CertificateError>,
    /// The files that were looked at last.
    files: Option<[Vec<u8>; 2]>,
}

impl Shown {
    pub(crate) fn new(reads: CertificateReads) -> Self {
        Self { reads, ..Self::default() }
    }

    /// Takes new files. Broken ones leave the certificate that is there: half of a swap may be seen.
    pub(crate) fn offer(&self, files: Result<[Vec<u8>; 2], CertificateError>) {
        let mut state = self.state.write();
        state.take(files);
        self.reads.count(state.problem.is_none());
    }

    /// Whether a client would accept what is shown at `now`.
    pub(crate) fn check<R>(
        &self,
        now: Timestamp,
        refused: impl FnOnce(&CertificateError) -> R,
    ) -> Result<(), R> {
        let state = self.state.read();
        match (&state.certificate, &state.problem) {
            // What is broken on disk does not matter before the certificate in use has run out.
            (Some(certificate), _) => certificate.check(now).map_err(|error| refused(&error)),
            (None, Some(problem)) => Err(refused(problem)),
            (None, None) => Err(refused(&CertificateError::Missing)),
        }
    }
}

impl State {
    fn take(&mut self, files: Result<[Vec<u8>; 2], CertificateError>) {
        let files = match files {
            Ok(files) => files,
            Err(error) => return self.fail(error),
        };
        if self.files.as_ref() == Some(&files) {
            return;
        }
        match ServingCertificate::from_pem(&files[0], &files[1]) {
            Ok(certificate) => {
                tracing::info!(not_after = %certificate.not_after, "serving certificate loaded");
                self.certificate = Some(certificate);
                self.problem = None;
            }
            Err(error) => self.fail(error),
        }
        self.files = Some(files);
    }

    fn fail(&mut self, error: CertificateError) {
        // Once for each new problem, and not at each look.
        if self.problem.as_ref().map(ToString::to_string) != Some(error.to_string()) {
            tracing::error!(error = crate::error::chain(&error), "failed to load the serving certificate");
        }
        self.files = None;
        self.problem = Some(error);
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.state.read().certificate.as_ref().map(|certificate| certificate.key.clone())
    }
}

/// How often certificates were read, and in vain.
///
/// A server reads again and again, so the first grows all the time; a file that stays broken counts at each look.
///
/// Source: controller-runtime `pkg/certwatcher/metrics`.
#[derive(Clone, Debug)]
pub(crate) struct CertificateReads {
    total: IntCounter,
    errors: IntCounter,
}

impl CertificateReads {
    fn count(&self, is_good: bool) {
        self.total.inc();
        if !is_good {
            self.errors.inc();
        }
    }
}

impl Default for CertificateReads {
    fn default() -> Self {
        let counter = |name, help| IntCounter::new(name, help).expect("the name is a constant and valid");
        Self {
            total: counter("certwatcher_read_certificate_total", "Total number of certificate reads"),
            errors: counter(
                "certwatcher_read_certificate_errors_total",
                "Total number of certificate read errors",
            ),
        }
    }
}

impl Collector for CertificateReads {
    fn desc(&self) -> Vec<&Desc> {
        [&self.total, &self.errors].into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        [&self.total, &self.errors].into_iter().flat_map(Collector::collect).collect()
    }
}

/// Both files, as they are now. A swap between the two reads gives a pair that does not match, which is refused and read again.
pub(crate) async fn read_files(chain: &Path, key: &Path) -> Result<[Vec<u8>; 2], CertificateError> {
    Ok([read_file(chain).await?, read_file(key).await?])
}

pub(crate) async fn read_file(path: &Path) -> Result<Vec<u8>, CertificateError> {
    tokio::fs::read(path).await.map_err(|source| CertificateError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(from: i32, until: i32) -> [Vec<u8>; 2] {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(from, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        [params.self_signed(&key).unwrap().pem().into_bytes(), key.serialize_pem().into_bytes()]
    }

    fn reason(shown: &Shown, now: &str) -> String {
        shown.check(now.parse().unwrap(), ToString::to_string).err().unwrap_or_default()
    }

    #[test]
    fn readiness_gives_the_reason_why_clients_would_refuse() {
        let shown = Shown::default();
        assert_eq!(reason(&shown, "2021-01-01T00:00:00Z"), "no certificate has been read yet");
        shown.offer(Ok(files(2020, 2022)));
        assert_eq!(reason(&shown, "2021-01-01T00:00:00Z"), "");
        assert_eq!(
            reason(&shown, "2019-01-01T00:00:00Z"),
            "the certificate is not valid before 2020-01-01T00:00:00Z"
        );
        assert_eq!(reason(&shown, "2022-01-01T00:00:01Z"), "the certificate expired at 2022-01-01T00:00:00Z");
    }

    #[test]
    fn reads_are_counted_and_those_in_vain_at_each_look() {
        let reads = CertificateReads::default();
        let shown = Shown::new(reads.clone());
        let good = files(2020, 2022);
        let broken = || [good[0].clone(), files(2020, 2022)[1].clone()];
        let missing = || Err(CertificateError::Parse);
        let same = broken();
        let looks = [missing(), Ok(good.clone()), Ok(good.clone()), Ok(same.clone()), Ok(same), Ok(good)];
        let counted: Vec<_> = looks
            .into_iter()
            .map(|files| {
                shown.offer(files);
                (reads.total.get(), reads.errors.get())
            })
            .collect();
        assert_eq!(counted, [(1, 1), (2, 1), (3, 1), (4, 2), (5, 3), (6, 3)]);
    }

    #[test]
    fn a_pair_that_does_not_match_is_refused_and_the_old_one_stays() {
        let (old, new) = (files(2020, 2022), files(2020, 2024));
        let mixed = || Ok([new[0].clone(), old[1].clone()]);
        let shown = Shown::default();
        shown.offer(mixed());
        assert_eq!(
            reason(&shown, "2021-01-01T00:00:00Z"),
            "failed to use the private key with this certificate"
        );
        shown.offer(Ok(old.clone()));
        shown.offer(mixed());
        assert_eq!(reason(&shown, "2021-01-01T00:00:00Z"), "");
        assert_ne!(reason(&shown, "2023-01-01T00:00:00Z"), "");
        shown.offer(Ok(new.clone()));
        assert_eq!(reason(&shown, "2023-01-01T00:00:00Z"), "");
    }
}

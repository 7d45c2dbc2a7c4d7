//! What the Secret should hold, given what it holds and the time.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::{
    certificate::{Certificate, Pair},
    contents::Contents,
};

/// The rules of one set of certificates. They know no cluster and no clock.
///
/// A certificate is replaced after two thirds of its life. A new CA first joins the others, and signs what is served only after clients have been told of it, so
/// that every certificate that is served at any moment is one that they accept. The old CA stays until it ends.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    /// The name of the CA.
    pub(super) authority_name: String,
    /// The names of the server, which its certificate has to have.
    pub(super) names: Vec<String>,
    pub(super) authority_life: Duration,
    pub(super) serving_life: Duration,
    /// How long clients may take to hear of a new CA.
    pub(super) propagation: Duration,
}

impl Policy {
    /// What the Secret should hold at `now`; equal to `held` if that is good.
    ///
    /// `is_trusted` says whether clients are known to trust all CAs that are held.
    ///
    /// # Errors
    /// A certificate cannot be made, such as one for a name that is none.
    pub(super) fn next(
        &self,
        held: &Contents,
        now: Timestamp,
        is_trusted: bool,
    ) -> Result<Contents, rcgen::Error> {
        let mut next = held.clone();
        next.authorities.retain(|authority| now <= authority.life.not_after);
        let signer = match held.signer() {
            Some(signer) if signer.certificate.life.holds(now) && !signer.certificate.life.is_due(now) => {
                signer
            }
            _ => {
                let new = Pair::authority(&self.authority_name, self.authority_life, now)?;
                next.authorities.insert(0, new.certificate.clone());
                next.authorities.truncate(MAX_AUTHORITIES);
                next.authority_key.clone_from(&new.key);
                new
            }
        };
        if self.serving_is_over(&next, &signer.certificate, now, is_trusted && next == *held) {
            next.serving = Some(signer.signed(&self.names, self.serving_life, now)?);
        }
        Ok(next)
    }

    /// Why clients that trust what is held would not accept what it serves.
    ///
    /// # Errors
    /// What they would say; without a certificate that they know nobody.
    pub(super) fn check(&self, held: &Contents, now: Timestamp) -> Result<(), rustls::Error> {
        let Some(serving) = &held.serving else { return Err(rustls::Error::NoCertificatesPresented) };
        self.names.iter().try_for_each(|name| serving.certificate.verify(&held.authorities, name, now))
    }

    /// Whether it is time for a new serving certificate, signed by `signer`.
    fn serving_is_over(
        &self,
        held: &Contents,
        signer: &Certificate,
        now: Timestamp,
        is_trusted: bool,
    ) -> bool {
        let (Some(serving), Ok(())) = (&held.serving, self.check(held, now)) else { return true };
        let is_known =
            now.duration_since(signer.life.made()) >= self.propagation.try_into().unwrap_or_default();
        let is_signed =
            |name: &String| serving.certificate.verify(std::slice::from_ref(signer), name, now).is_ok();
        if self.names.iter().all(is_signed) {
            serving.certificate.life.is_due(now)
        } else {
            // That of the CA before. It goes on until everybody knows the new one.
            is_trusted && is_known
        }
    }
}

/// Two of them overlap. More come only of a Secret that somebody else writes to.
const MAX_AUTHORITIES: usize = 4;

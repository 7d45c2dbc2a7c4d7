//! Finding out who asks.

use std::fmt;

use http::HeaderMap;

use crate::{context::UserInfo, error::Status};

/// Finds out who asks. A door asks its authenticators one after the other, until one of them knows.
///
/// Source: apiserver `authentication/authenticator.Request`, `request/union`.
pub(crate) trait Authenticator: fmt::Debug + Send + Sync {
    /// Who asks; `None` if the credentials of this kind are missing, and another one may know.
    ///
    /// # Errors
    /// 401 for credentials that are wrong. Nobody else is asked then.
    fn authenticate(&self, credentials: &Credentials<'_>) -> Result<Option<UserInfo>, Status>;
}

/// What a request brings along to say who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Credentials<'a> {
    pub(crate) headers: &'a HeaderMap,
    /// Whether the client has shown a certificate of a CA that the door trusts.
    pub(crate) has_certificate: bool,
}

/// Takes everybody for an administrator: in the process, and where who gets as far as the door is on this machine.
#[derive(Debug)]
pub(crate) struct Everybody;

impl Authenticator for Everybody {
    fn authenticate(&self, _: &Credentials<'_>) -> Result<Option<UserInfo>, Status> {
        Ok(Some(UserInfo::admin()))
    }
}

/// Takes everybody who has shown a certificate for an administrator. The handshake has verified it.
#[derive(Debug)]
pub(crate) struct KnownCertificate;

impl Authenticator for KnownCertificate {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Result<Option<UserInfo>, Status> {
        Ok(credentials.has_certificate.then(UserInfo::admin))
    }
}

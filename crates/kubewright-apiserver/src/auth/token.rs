//! Bearer tokens.

use std::fmt;

use http::header;

use super::authenticator::{Authenticator, Credentials};
use crate::{context::UserInfo, error::Status};

/// Knows one token, whose holder is an administrator.
#[derive(Clone)]
pub(crate) struct BearerToken(pub(crate) String);

impl Authenticator for BearerToken {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Result<Option<UserInfo>, Status> {
        match bearer(credentials) {
            Some(token) if same(token, &self.0) => Ok(Some(UserInfo::admin())),
            Some(_) => Err(Status::unauthorized()),
            None => Ok(None),
        }
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BearerToken")
    }
}

/// Somebody who knows whose tokens are.
pub(crate) trait TokenReader: fmt::Debug + Send + Sync {
    /// Whose token it is; `None` for a token of somebody else, which another authenticator may know.
    fn user(&self, token: &str) -> Option<UserInfo>;
}

/// Knows tokens by asking somebody.
#[derive(Debug)]
pub(crate) struct TokenUser<R>(pub(crate) R);

impl<R: TokenReader> Authenticator for TokenUser<R> {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Result<Option<UserInfo>, Status> {
        Ok(bearer(credentials).and_then(|token| self.0.user(token)))
    }
}

/// The token in the header.
fn bearer<'a>(credentials: &Credentials<'a>) -> Option<&'a str> {
    let given = credentials.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Compares in a time that does not depend on where the texts differ.
fn same(a: &str, b: &str) -> bool {
    let difference = a.bytes().zip(b.bytes()).fold(0, |difference, (a, b)| difference | (a ^ b));
    a.len() == b.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[test]
    fn only_the_token_is_known() {
        let check = |value: &str| {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
            let credentials = Credentials { headers: &headers, has_certificate: false };
            BearerToken("secret".into()).authenticate(&credentials).map(|user| user.is_some())
        };
        assert_eq!(check("Bearer secret"), Ok(true));
        assert_eq!(check("bearer secret"), Ok(true));
        for wrong in ["Bearer secre", "Bearer wrong!", "Bearer "] {
            assert_eq!(check(wrong).unwrap_err().code, 401);
        }
        for other in ["secret", "", "Basic secret"] {
            assert_eq!(check(other), Ok(false));
        }
    }
}

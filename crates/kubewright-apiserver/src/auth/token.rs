//! Bearer tokens.

use http::header;

use super::authenticator::{Authenticator, Credentials};
use crate::{context::UserInfo, error::Status};

/// Knows one token, whose holder is an administrator.
#[derive(Clone)]
pub(crate) struct BearerToken(pub(crate) String);

impl Authenticator for BearerToken {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Result<Option<UserInfo>, Status> {
        let given = credentials.headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = given.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match token {
            Some((_, token)) if same(token.trim(), &self.0) => Ok(Some(UserInfo::admin())),
            Some(_) => Err(Status::unauthorized()),
            None => Ok(None),
        }
    }
}

impl std::fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("BearerToken")
    }
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

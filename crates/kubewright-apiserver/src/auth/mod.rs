//! Who asks. A thin room for now: a bearer token at the TCP door, and nobody is refused at the other one.

use http::{HeaderMap, StatusCode, header};

use crate::error::Status;

/// Decides whether a request may come in.
#[derive(Debug, Clone)]
pub(crate) enum Authenticator {
    /// Everybody is an administrator: the door in the process.
    Trusting,
    /// Whoever knows the token is an administrator.
    Token(String),
}

impl Authenticator {
    pub(crate) fn trusting() -> Self {
        Self::Trusting
    }

    /// # Errors
    /// 401 for a wrong or missing token. Health and version are public.
    ///
    /// Source: the bootstrap role `system:public-info-viewer`.
    pub(crate) fn check(&self, path: &str, headers: &HeaderMap) -> Result<(), Status> {
        let Self::Token(expected) = self else { return Ok(()) };
        let first = path.split('/').nth(1).unwrap_or_default();
        if matches!(first, "healthz" | "livez" | "readyz" | "version") {
            return Ok(());
        }
        let given =
            headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = given.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match token {
            Some((_, token)) if same(token.trim(), expected) => Ok(()),
            _ => Err(Status::unauthorized()),
        }
    }
}

/// Nobody acts in the name of somebody else here, and who asks for it must not act in his own instead.
///
/// # Errors
/// 403 for a request with one of the headers of impersonation.
///
/// Source: apiserver `endpoints/filters.WithImpersonation`.
pub(crate) fn refuse_impersonation(headers: &HeaderMap) -> Result<(), Status> {
    let asks = headers.keys().any(|name| name.as_str().starts_with("impersonate-"));
    if !asks {
        return Ok(());
    }
    let user = headers.get("impersonate-user").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let message = format!(
        "users \"{user}\" is forbidden: cannot impersonate resource \"users\" in API group \"\" at the cluster scope: this server does not impersonate"
    );
    let status = Status::new(StatusCode::FORBIDDEN, "Forbidden", message);
    Err(status.with("name", user).with("kind", "users"))
}

/// Compares in a time that does not depend on where the texts differ.
fn same(a: &str, b: &str) -> bool {
    let difference = a.bytes().zip(b.bytes()).fold(0, |difference, (a, b)| difference | (a ^ b));
    a.len() == b.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_opens_the_door() {
        let authenticator = Authenticator::Token("secret".into());
        let check = |path: &str, value: &str| {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
            authenticator.check(path, &headers).is_ok()
        };
        assert!(check("/api", "Bearer secret"));
        assert!(check("/api", "bearer secret"));
        assert!(!check("/api", "Bearer secre"));
        assert!(!check("/api", "Bearer wrong!"));
        assert!(!check("/api", "secret"));
        assert!(!check("/versions", ""));
        assert!(check("/readyz/ping", ""));
        assert!(Authenticator::trusting().check("/api", &HeaderMap::new()).is_ok());
    }
}

//! Who asks.

use std::sync::Arc;

use super::{
    asked::Asked,
    filter::{Answer, Filter, Next},
};
use crate::{
    auth::{Authenticator, Credentials},
    context::UserInfo,
    error::Status,
    wire::json_response,
};

/// Finds out who asks. Only what is public may be asked for by nobody in particular.
///
/// Source: apiserver `endpoints/filters.WithAuthentication`.
#[derive(Debug, Clone)]
pub(in crate::door) struct Authentication(pub(in crate::door) Arc<[Box<dyn Authenticator>]>);

impl<S: Next<Asked>> Filter<Asked, S> for Authentication {
    async fn pass(self, mut asked: Asked, mut next: S) -> Answer {
        match self.user(&asked) {
            Ok(user) => asked.context.user = user,
            Err(status) => return Ok(json_response(&status)),
        }
        next.call(asked).await
    }
}

impl Authentication {
    /// # Errors
    /// 401 for wrong credentials, and for none where some are needed.
    fn user(&self, asked: &Asked) -> Result<UserInfo, Status> {
        let credentials = Credentials { headers: &asked.headers, has_certificate: asked.has_certificate };
        for authenticator in &*self.0 {
            if let Some(user) = authenticator.authenticate(&credentials)? {
                return Ok(user);
            }
        }
        if is_public(&asked.context.info.path) {
            Ok(UserInfo::anonymous())
        } else {
            Err(Status::unauthorized())
        }
    }
}

/// Whether everybody may read a path.
///
/// Source: the bootstrap role `system:public-info-viewer`.
fn is_public(path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    matches!(first, "healthz" | "livez" | "readyz" | "version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_and_version_are_public() {
        let public = ["/healthz", "/readyz/ping", "/version", "/livez"].map(is_public);
        assert_eq!(public, [true; 4]);
        let others = ["/api", "/versions", "/", "", "/metrics"].map(is_public);
        assert_eq!(others, [false; 5]);
    }
}

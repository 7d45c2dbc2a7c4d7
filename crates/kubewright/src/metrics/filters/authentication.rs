//! Whose token it is.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, header};
use k8s_openapi::api::authentication::v1::{TokenReview, UserInfo};
use serde_json::json;

use super::{expiring::Expiring, review};
use crate::BoxError;

/// Asks the API server whose token a request carries, and remembers for a minute.
pub(super) struct Authentication {
    kube: kube::Client,
    known: Expiring<TokenDigest, Option<Arc<UserInfo>>>,
}

/// Tokens themselves are not kept.
type TokenDigest = [u8; 32];

impl Authentication {
    pub(super) fn new(kube: kube::Client) -> Self {
        Self { kube, known: Expiring::new(MAX_KNOWN) }
    }

    /// Who asks. `None` if nobody knows.
    ///
    /// # Differences from Go
    /// A token that the API server refuses with a reason, as "invalid bearer token", is nobody's; upstream takes the reason for a failure of its own.
    pub(super) async fn user(&self, headers: &HeaderMap) -> Result<Option<Arc<UserInfo>>, BoxError> {
        let Some(token) = bearer_token(headers) else { return Ok(None) };
        let digest = digest(token);
        if let Some(known) = self.known.get(&digest) {
            return Ok(known);
        }
        let user = self.review(token).await?.map(Arc::new);
        self.known.insert(digest, user.clone(), TTL);
        Ok(user)
    }

    async fn review(&self, token: &str) -> Result<Option<UserInfo>, BoxError> {
        // The type of `token` is not the same in all versions of Kubernetes.
        let review: TokenReview = serde_json::from_value(json!({ "spec": { "token": token } }))?;
        let status = review::ask(&self.kube, &review).await?.status.unwrap_or_default();
        if let Some(reason) = &status.error {
            tracing::debug!(reason, "a token was refused");
        }
        Ok(status.user.filter(|_| status.authenticated == Some(true)))
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn digest(token: &str) -> TokenDigest {
    let digest = ring::digest::digest(&ring::digest::SHA256, token.as_bytes());
    digest.as_ref().try_into().expect("a sha-256 has 32 bytes")
}

/// controller-runtime `filters`: `CacheTTL`, for users and for refusals.
const TTL: Duration = Duration::from_secs(60);
/// More tokens than a cluster has scrapers; whoever makes some up is asked for each time.
const MAX_KNOWN: usize = 1024;

//! Whether a user may.

use std::time::Duration;

use k8s_openapi::api::{
    authentication::v1::UserInfo,
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};

use super::{expiring::Expiring, review};
use crate::BoxError;

/// Asks the API server whether somebody may read a path, and remembers a yes for five minutes and a no for half of one.
pub(super) struct Authorization {
    kube: kube::Client,
    /// By the question, as it is sent.
    known: Expiring<String, bool>,
}

impl Authorization {
    pub(super) fn new(kube: kube::Client) -> Self {
        Self { kube, known: Expiring::new(MAX_KNOWN) }
    }

    pub(super) async fn may(&self, user: &UserInfo, verb: &str, path: &str) -> Result<bool, BoxError> {
        let spec = question(user, verb, path);
        let key = serde_json::to_string(&spec)?;
        if let Some(known) = self.known.get(&key) {
            return Ok(known);
        }
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let status = review::ask(&self.kube, &review).await?.status.unwrap_or_default();
        if let Some(reason) = &status.reason {
            tracing::debug!(reason, allowed = status.allowed, "access was reviewed");
        }
        if key.len() < MAX_KEY_BYTES {
            self.known.insert(key, status.allowed, if status.allowed { ALLOWED_TTL } else { DENIED_TTL });
        }
        Ok(status.allowed)
    }
}

fn question(user: &UserInfo, verb: &str, path: &str) -> SubjectAccessReviewSpec {
    SubjectAccessReviewSpec {
        user: user.username.clone(),
        uid: user.uid.clone(),
        groups: user.groups.clone(),
        extra: user.extra.clone(),
        non_resource_attributes: Some(NonResourceAttributes {
            path: Some(path.to_owned()),
            verb: Some(verb.to_owned()),
        }),
        ..SubjectAccessReviewSpec::default()
    }
}

/// controller-runtime `filters`: `AllowCacheTTL`.
const ALLOWED_TTL: Duration = Duration::from_secs(5 * 60);
/// controller-runtime `filters`: `DenyCacheTTL`.
const DENIED_TTL: Duration = Duration::from_secs(30);
const MAX_KNOWN: usize = 1024;
/// apiserver `webhook.maxControlledAttrCacheSize`: a longer question is not kept.
const MAX_KEY_BYTES: usize = 10_000;

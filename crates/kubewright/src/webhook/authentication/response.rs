//! What the API server is told.

use k8s_openapi::api::authentication::v1::{TokenReviewStatus, UserInfo};
use serde::Serialize;

use super::request::{ReviewMetadata, ReviewVersion};

/// Whose a token is.
///
/// Source: controller-runtime `authentication.Response`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AuthenticationResponse {
    /// Whose it is; `None` if it is nobody's.
    pub user: Option<UserInfo>,
    /// Those of the audiences that were asked for, for whom the token is. Empty leaves it to the API server.
    pub audiences: Vec<String>,
    /// Why the token could not be judged; empty if it was.
    pub error: String,
}

impl AuthenticationResponse {
    /// The token is that of `username`, who is in `groups`.
    pub fn authenticated<G: Into<String>>(
        username: impl Into<String>,
        groups: impl IntoIterator<Item = G>,
    ) -> Self {
        let groups: Vec<String> = groups.into_iter().map(Into::into).collect();
        let groups = (!groups.is_empty()).then_some(groups);
        let user = UserInfo { username: Some(username.into()), groups, ..UserInfo::default() };
        Self { user: Some(user), ..Self::default() }
    }

    /// The token is nobody's.
    pub fn unauthenticated() -> Self {
        Self::default()
    }

    /// The token could not be judged, so that it is nobody's.
    pub fn errored(error: impl Into<String>) -> Self {
        Self { error: error.into(), ..Self::default() }
    }

    pub(super) fn review(self, version: ReviewVersion, metadata: ReviewMetadata) -> impl Serialize {
        let is_known = self.user.is_some() && self.error.is_empty();
        WireReview {
            version,
            metadata,
            status: TokenReviewStatus {
                authenticated: Some(is_known),
                user: self.user.filter(|_| is_known),
                audiences: (!self.audiences.is_empty()).then_some(self.audiences),
                error: (!self.error.is_empty()).then_some(self.error),
            },
        }
    }
}

#[derive(Serialize)]
struct WireReview {
    #[serde(flatten)]
    version: ReviewVersion,
    metadata: ReviewMetadata,
    status: TokenReviewStatus,
}

//! What the API server asks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A token that somebody has brought. It is nowhere printed.
///
/// Source: `authentication.k8s.io/v1 TokenReviewSpec`.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TokenRequest {
    /// The token; never empty.
    pub token: String,
    /// For whom the token has to be; empty if nobody asks.
    pub audiences: Vec<String>,
}

impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRequest").field("audiences", &self.audiences).finish_non_exhaustive()
    }
}

/// A review as it comes.
#[derive(Deserialize)]
pub(super) struct Review {
    #[serde(flatten)]
    pub(super) version: ReviewVersion,
    #[serde(default)]
    pub(super) metadata: ReviewMetadata,
    #[serde(default)]
    pub(super) spec: TokenRequest,
}

/// In which version the API server speaks; it is answered in the same.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReviewVersion {
    #[serde(default)]
    pub(super) api_version: String,
    #[serde(default)]
    pub(super) kind: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct ReviewMetadata {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) uid: String,
}

impl Default for ReviewVersion {
    fn default() -> Self {
        Self { api_version: "authentication.k8s.io/v1".to_owned(), kind: "TokenReview".to_owned() }
    }
}

impl ReviewVersion {
    /// Those that carry no version are read as v1.
    pub(super) fn or_default(self) -> Self {
        if self.api_version.is_empty() { Self::default() } else { self }
    }

    pub(super) fn is_known(&self) -> bool {
        matches!(&*self.api_version, "authentication.k8s.io/v1" | "authentication.k8s.io/v1beta1")
            && self.kind == "TokenReview"
    }
}

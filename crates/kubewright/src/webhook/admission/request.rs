//! What the API server asks.

use k8s_openapi::api::authentication::v1::UserInfo;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request of a client, before it is stored.
///
/// Source: `admission.k8s.io/v1 AdmissionRequest`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct AdmissionRequest {
    /// Which call this is; the answer carries it.
    pub uid: String,
    /// The kind of the object, in the version that the webhook is registered for.
    pub kind: GroupVersionKind,
    /// The resource, in the version that the webhook is registered for.
    pub resource: GroupVersionResource,
    /// `status`, `scale` and the like; empty for the object itself.
    pub sub_resource: String,
    /// The kind that the client used.
    pub request_kind: Option<GroupVersionKind>,
    /// The resource that the client used.
    pub request_resource: Option<GroupVersionResource>,
    /// The name; empty if the API server is to make one.
    pub name: String,
    /// The namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// What is to be done.
    pub operation: Operation,
    /// Who asks.
    pub user_info: UserInfo,
    /// The object as it shall be; `None` when it is to be deleted.
    pub object: Option<Value>,
    /// The object as it is; `None` when it is to be created.
    pub old_object: Option<Value>,
    /// Nothing will be stored; side effects are forbidden.
    pub dry_run: Option<bool>,
    /// The options of the request, `CreateOptions` and the like.
    pub options: Option<Value>,
}

/// What is to be done with the object.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Operation {
    /// It is created.
    Create,
    /// It is changed.
    Update,
    /// It is deleted.
    Delete,
    /// Somebody connects to it, as `kubectl exec` does.
    Connect,
    /// Something that this release does not know, or nothing.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Operation {
    /// As in rules: `CREATE` and the like; `*` for what is unknown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
            Self::Unknown => "*",
        }
    }
}

/// A kind in one version.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
#[non_exhaustive]
pub struct GroupVersionKind {
    /// Empty for the core group.
    pub group: String,
    /// `v1` and the like.
    pub version: String,
    /// `Pod` and the like.
    pub kind: String,
}

/// A resource in one version.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
#[non_exhaustive]
pub struct GroupVersionResource {
    /// Empty for the core group.
    pub group: String,
    /// `v1` and the like.
    pub version: String,
    /// `pods` and the like.
    pub resource: String,
}

/// A review as it comes.
#[derive(Debug, Deserialize)]
pub(super) struct Review {
    #[serde(flatten)]
    pub(super) version: ReviewVersion,
    pub(super) request: Option<AdmissionRequest>,
}

/// In which version the API server speaks; it is answered in the same.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReviewVersion {
    #[serde(default)]
    pub(super) api_version: String,
    #[serde(default)]
    pub(super) kind: String,
}

impl Default for ReviewVersion {
    fn default() -> Self {
        Self { api_version: "admission.k8s.io/v1".to_owned(), kind: "AdmissionReview".to_owned() }
    }
}

impl ReviewVersion {
    /// Those that carry no version are read as v1.
    pub(super) fn or_default(self) -> Self {
        if self.api_version.is_empty() { Self::default() } else { self }
    }

    pub(super) fn is_known(&self) -> bool {
        matches!(&*self.api_version, "admission.k8s.io/v1" | "admission.k8s.io/v1beta1")
            && self.kind == "AdmissionReview"
    }
}

//! What the API server is told.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use super::{AdmissionRequest, patch, request::ReviewVersion};
use crate::{BoxError, error};

/// Whether a request passes, and with which object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdmissionResponse {
    /// Whether it passes.
    pub allowed: bool,
    /// The HTTP status that the client gets if it does not.
    pub code: u16,
    /// A word for programs, as `Forbidden`; may be empty.
    pub reason: String,
    /// A sentence for people; may be empty.
    pub message: String,
    /// What the client is to be told, whatever happens.
    pub warnings: Vec<String>,
    /// What the audit log is to be told.
    pub audit_annotations: BTreeMap<String, String>,
    /// The object as it shall be; `None` leaves it as it is.
    pub object: Option<Value>,
}

impl AdmissionResponse {
    /// The request passes.
    pub fn allowed() -> Self {
        Self {
            allowed: true,
            code: 200,
            reason: String::new(),
            message: String::new(),
            warnings: Vec::new(),
            audit_annotations: BTreeMap::new(),
            object: None,
        }
    }

    /// The request passes, with this object in the place of its own. Only what differs is sent.
    pub fn patched(object: Value) -> Self {
        Self { object: Some(object), ..Self::allowed() }
    }

    /// The request is forbidden: 403.
    pub fn denied(message: impl Into<String>) -> Self {
        Self { reason: "Forbidden".to_owned(), ..Self::errored(StatusCode::FORBIDDEN, message) }
    }

    /// The request could not be judged, and does not pass.
    pub fn errored(code: StatusCode, message: impl Into<String>) -> Self {
        Self { allowed: false, code: code.as_u16(), message: message.into(), ..Self::allowed() }
    }

    /// Adds warnings.
    #[must_use]
    pub fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// What an author's error says: that of the API server goes on as it is, any other forbids.
    pub(super) fn of_error(failed: &BoxError) -> Self {
        match failed.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(status)) => Self {
                code: status.code,
                reason: status.reason.clone(),
                ..Self::denied(status.message.clone())
            },
            _ => Self::denied(error::chain(&**failed)),
        }
    }

    /// The review that carries it, as an answer to `request`.
    pub(super) fn review(
        self,
        version: &ReviewVersion,
        request: &AdmissionRequest,
    ) -> impl Serialize + use<> {
        let operations = match (&request.object, &self.object) {
            (Some(before), Some(after)) if self.allowed => patch::between(before, after),
            _ => Vec::new(),
        };
        // What has been serialised from a value serialises.
        let patch = (!operations.is_empty()).then(|| STANDARD.encode(Value::from(operations).to_string()));
        WireReview {
            version: version.clone(),
            response: WireResponse {
                uid: request.uid.clone(),
                allowed: self.allowed,
                status: WireStatus { code: self.code, reason: self.reason, message: self.message },
                patch_type: patch.is_some().then_some("JSONPatch"),
                patch,
                warnings: self.warnings,
                audit_annotations: self.audit_annotations,
            },
        }
    }
}

#[derive(Serialize)]
struct WireReview {
    #[serde(flatten)]
    version: ReviewVersion,
    response: WireResponse,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireResponse {
    uid: String,
    allowed: bool,
    status: WireStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct WireStatus {
    code: u16,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

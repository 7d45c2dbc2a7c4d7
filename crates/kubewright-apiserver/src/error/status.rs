//! The `Status` that answers a request that failed, and some that did not.

use http::StatusCode;
use thiserror::Error;

use super::{field_error::FieldError, named::Named};
use crate::value::{Value, json};

/// A `metav1.Status`: what went wrong, in the words and with the codes of upstream.
///
/// Source: apimachinery `api/errors`.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Status {
    /// The HTTP status code.
    pub code: StatusCode,
    /// The machine-readable reason, such as `NotFound`; may be empty.
    pub reason: String,
    /// The sentence for people.
    pub message: String,
    /// `details` as on the wire: `name`, `group`, `kind`, `uid`, `causes`, `retryAfterSeconds`.
    pub details: serde_json::Map<String, serde_json::Value>,
    /// `metadata.continue`: where an expired list may go on, inconsistently.
    continue_token: Option<String>,
    /// Whether `details` are on the wire even if there are none.
    empty_details: bool,
}

impl Status {
    /// A Status with a code, a reason and a message, and without details.
    pub fn new(code: StatusCode, reason: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.to_owned(),
            message: message.into(),
            details: serde_json::Map::new(),
            continue_token: None,
            empty_details: false,
        }
    }

    /// 410 `Expired`: what the client wants to go on from is no longer known.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// 429 `TooManyRequests`, to be retried after so many seconds.
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message)
            .with("retryAfterSeconds", retry_after_seconds)
    }

    /// 500 `InternalError`.
    pub fn internal_error(message: impl std::fmt::Display) -> Self {
        let text = message.to_string();
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            format!("Internal error occurred: {text}"),
        )
        .with("causes", json!([{"message": text}]))
    }

    /// 503 `ServiceUnavailable`.
    pub fn service_unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", message)
    }

    /// 409 `Conflict` as for a stale resource version of an object.
    pub fn stale(qualified_resource: &str, name: &str) -> Self {
        let (plural, group) = split(qualified_resource);
        Self::conflict_of(plural, group, name, OPTIMISTIC_LOCK)
    }

    pub(crate) fn conflict(kind: &impl Named, name: &str, cause: &str) -> Self {
        Self::conflict_of(kind.plural(), kind.group(), name, cause)
    }

    pub(crate) fn modified(kind: &impl Named, name: &str) -> Self {
        Self::conflict(kind, name, OPTIMISTIC_LOCK)
    }

    pub(crate) fn not_found(kind: &impl Named, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.qualified_resource());
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).about(kind, name)
    }

    /// 404 of a path below a built-in group that no route leads to.
    ///
    /// Source: apimachinery `errors.NewGenericServerResponse`, which knows nothing of the object.
    pub(crate) fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        let status = Self::new(StatusCode::NOT_FOUND, "NotFound", message);
        Self { empty_details: true, ..status }
    }

    /// 405 of a path below a built-in group that has no such method.
    ///
    /// Source: as that of [`no_such_resource`](Self::no_such_resource).
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        let status = Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message);
        Self { empty_details: true, ..status }
    }

    /// 405 of a custom resource; `verb` is the word of RBAC, and may be empty.
    ///
    /// Source: apimachinery `errors.NewMethodNotSupported`.
    pub(crate) fn method_not_supported(kind: &impl Named, verb: &str) -> Self {
        let message =
            format!("{verb} is not supported on resources of kind \"{}\"", kind.qualified_resource());
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).about(kind, "")
    }

    pub(crate) fn namespace_not_found(name: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", format!("namespaces \"{name}\" not found"))
            .with("name", name)
            .with("kind", "namespaces")
    }

    pub(crate) fn already_exists(kind: &impl Named, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", kind.qualified_resource());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).about(kind, name)
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn forbidden(kind: &impl Named, name: &str, cause: &str) -> Self {
        let resource = kind.qualified_resource();
        let message = if name.is_empty() {
            format!("{resource} is forbidden: {cause}")
        } else {
            format!("{resource} \"{name}\" is forbidden: {cause}")
        };
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).about(kind, name)
    }

    /// 403 of a path that is no resource.
    ///
    /// Source: apimachinery `errors.NewForbidden` without a resource.
    pub(crate) fn forbidden_path(cause: &str) -> Self {
        let status = Self::new(StatusCode::FORBIDDEN, "Forbidden", format!("forbidden: {cause}"));
        Self { empty_details: true, ..status }
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    pub(crate) fn not_acceptable(accepted: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", accepted.join(", "));
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    pub(crate) fn too_large_body(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
    }

    pub(crate) fn timeout(message: &str) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", format!("Timeout: {message}"))
    }

    pub(crate) fn too_large_resource_version(requested: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {requested}, current: {current}");
        let cause = json!([{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]);
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
            .with("causes", cause)
            .with("retryAfterSeconds", 1)
    }

    /// 422 about an object of a kind; `errors` must not be empty.
    pub(crate) fn invalid(kind: &impl Named, name: &str, errors: &[FieldError]) -> Self {
        let status = Self::invalid_of(&kind.qualified_kind(), name, errors);
        let status = if name.is_empty() { status } else { status.with("name", name) };
        status.with_group(kind.group()).with("kind", kind.kind())
    }

    /// 422 about request options, named by a qualified kind such as `ListOptions.meta.k8s.io`.
    pub(crate) fn invalid_options(qualified_kind: &str, errors: &[FieldError]) -> Self {
        let (kind, group) = split(qualified_kind);
        Self::invalid_of(qualified_kind, "", errors).with_group(group).with("kind", kind)
    }

    /// 422 when there are any errors about request options.
    pub(crate) fn refuse_options(qualified_kind: &str, errors: &[FieldError]) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Self::invalid_options(qualified_kind, errors)) }
    }

    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.details.insert(field.to_owned(), value.into().into());
        self
    }

    pub(crate) fn with_continue(mut self, token: String) -> Self {
        self.continue_token = Some(token);
        self
    }

    pub(crate) fn about(self, kind: &impl Named, name: &str) -> Self {
        let status = if name.is_empty() { self } else { self.with("name", name) };
        status.with_group(kind.group()).with("kind", kind.plural())
    }

    /// The Status as it goes on the wire.
    pub(crate) fn to_value(&self) -> Value {
        let outcome = if self.code.is_success() { "Success" } else { "Failure" };
        let mut value = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": outcome});
        if let Some(token) = &self.continue_token {
            value["metadata"]["continue"] = token.as_str().into();
        }
        if !self.message.is_empty() {
            value["message"] = self.message.as_str().into();
        }
        if !self.reason.is_empty() {
            value["reason"] = self.reason.as_str().into();
        }
        if !self.details.is_empty() || self.empty_details {
            value["details"] = serde_json::Value::Object(self.details.clone()).into();
        }
        // A Success has no code on the wire, as upstream's deletions have none.
        if !self.code.is_success() {
            value["code"] = self.code.as_u16().into();
        }
        value
    }

    fn conflict_of(plural: &str, group: &str, name: &str, cause: &str) -> Self {
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("Operation cannot be fulfilled on {plural}{dot}{group} \"{name}\": {cause}");
        Self::new(StatusCode::CONFLICT, "Conflict", message)
            .with("name", name)
            .with_group(group)
            .with("kind", plural)
    }

    fn invalid_of(qualified_kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        texts.dedup();
        let all = if let [one] = texts.as_slice() { one.clone() } else { format!("[{}]", texts.join(", ")) };
        let message = format!("{qualified_kind} \"{name}\" is invalid: {all}");
        let causes: Vec<Value> = errors.iter().map(FieldError::cause).collect();
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message).with("causes", causes)
    }

    fn with_group(self, group: &str) -> Self {
        if group.is_empty() { self } else { self.with("group", group) }
    }
}

fn split(qualified: &str) -> (&str, &str) {
    qualified.split_once('.').unwrap_or((qualified, ""))
}

const OPTIMISTIC_LOCK: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Kind, Kinds};

    fn kind(group: &str, plural: &str) -> std::sync::Arc<Kind> {
        Kinds::new().current().find(group, "v1", plural).unwrap().clone()
    }

    #[test]
    fn statuses_read_as_upstream_writes_them() {
        let deployments = kind("apps", "deployments");
        let pods = kind("", "pods");
        assert_eq!(
            Status::not_found(&deployments, "web").to_value(),
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "deployments.apps \"web\" not found", "reason": "NotFound",
                "details": {"name": "web", "group": "apps", "kind": "deployments"}, "code": 404})
        );
        let cases = [
            (
                Status::modified(&deployments, "web"),
                "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again",
            ),
            (Status::already_exists(&pods, "x"), "pods \"x\" already exists"),
            (Status::forbidden(&pods, "x", "because"), "pods \"x\" is forbidden: because"),
            (Status::too_large_resource_version(9, 3), "Timeout: Too large resource version: 9, current: 3"),
            (Status::too_large_body(3_145_728), "Request entity too large: limit is 3145728"),
            (
                Status::invalid(
                    &deployments,
                    "web",
                    &[FieldError::invalid(
                        "spec.replicas",
                        Some(&json!(-1)),
                        "must be greater than or equal to 0",
                    )],
                ),
                "Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            ),
        ];
        for (status, message) in cases {
            assert_eq!(status.to_string(), message);
        }
        assert_eq!(Status::stale("deployments.apps", "web"), Status::modified(&deployments, "web"));
    }
}

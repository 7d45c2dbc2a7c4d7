//! What a webhook is asked, and what its answer may be.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::StatusCode;

use super::{
    attributes::Attributes,
    hook::{Hook, ReviewVersion},
};
use crate::{
    error::Status,
    kind::Kind,
    object::Object,
    value::{Map, Value, json},
};

/// A question to one webhook.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) uid: String,
    pub(super) body: Value,
}

/// An answer in which everything is as it should be.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    pub(super) allowed: bool,
    pub(super) warnings: Vec<String>,
    /// A JSON patch.
    pub(super) patch: Option<Vec<u8>>,
    status: Map,
}

impl Question {
    /// Asks about a request as if it were made for `kind`.
    ///
    /// Source: apiserver `admission/plugin/webhook/request.CreateV1AdmissionReview`.
    pub(super) async fn new(
        attributes: &Attributes<'_>,
        hook: &Hook,
        kind: &Kind,
        old: Option<&Object>,
        new: Option<&Object>,
    ) -> Result<Self, Status> {
        let uid = attributes.admission.caller.uid();
        let mut shown = [Value::Null, Value::Null];
        for (place, object) in shown.iter_mut().zip([new, old]) {
            if let Some(object) = object {
                *place = attributes.show(kind, object).await?;
            }
        }
        let [shown_new, shown_old] = shown;
        let (asked, requested) = (names(attributes, kind), names(attributes, attributes.kind));
        let mut request = json!({
            "uid": uid,
            "kind": asked[0], "resource": asked[1],
            "requestKind": requested[0], "requestResource": requested[1],
            "operation": attributes.operation.as_str(),
            "userInfo": attributes.context.user.to_value(),
            "dryRun": attributes.dry_run, "options": attributes.options,
        });
        // Moved, since they may be large.
        request["object"] = shown_new;
        request["oldObject"] = shown_old;
        let Attributes { name, namespace, subresource, .. } = attributes;
        for (field, value) in [
            ("name", name),
            ("namespace", namespace),
            ("subResource", subresource),
            ("requestSubResource", subresource),
        ] {
            if !value.is_empty() {
                request[field] = (*value).into();
            }
        }
        let api_version = hook.review_version.api_version();
        let mut body = json!({"kind": "AdmissionReview", "apiVersion": api_version});
        body["request"] = request;
        Ok(Self { uid, body })
    }
}

/// The kind of the object and the resource, in the version of `kind`.
fn names(attributes: &Attributes<'_>, kind: &Kind) -> [Value; 2] {
    let Kind { group, version, plural, kind, .. } = kind;
    let shown = match attributes.view {
        Some(view) => view.kind(),
        None => [group.as_str(), version, kind],
    };
    [
        json!({"group": shown[0], "version": shown[1], "kind": shown[2]}),
        json!({"group": group, "version": version, "resource": plural}),
    ]
}

impl ReviewVersion {
    fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "admission.k8s.io/v1",
            Self::V1Beta1 => "admission.k8s.io/v1beta1",
        }
    }
}

impl Answer {
    /// Reads an answer to the question `uid`.
    ///
    /// # Errors
    /// What is wrong with it, in upstream's words.
    ///
    /// Source: apiserver `admission/plugin/webhook/request.VerifyAdmissionResponse`.
    pub(super) fn read(
        body: &[u8],
        uid: &str,
        version: ReviewVersion,
        may_patch: bool,
    ) -> Result<Self, String> {
        let review: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let Some(response) = review["response"].as_object() else {
            return Err("webhook response was absent".to_owned());
        };
        let text = |field: &str| response.get(field).and_then(Value::as_str).unwrap_or_default();
        // The first version of reviews did not ask for these.
        if version == ReviewVersion::V1 {
            if text("uid") != uid {
                return Err(format!("expected response.uid={uid:?}, got {:?}", text("uid")));
            }
            let found = |field: &str| review[field].as_str().unwrap_or_default();
            if (found("apiVersion"), found("kind")) != (version.api_version(), "AdmissionReview") {
                return Err(format!(
                    "expected webhook response of {}, Kind=AdmissionReview, got {}, Kind={}",
                    version.api_version(),
                    found("apiVersion"),
                    found("kind")
                ));
            }
        }
        let strings = response.get("warnings").and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            allowed: response.get("allowed") == Some(&Value::Bool(true)),
            warnings: strings.filter_map(Value::as_str).map(str::to_owned).collect(),
            patch: patch(text("patch"), text("patchType"), may_patch)?,
            status: response.get("status").and_then(Value::as_object).cloned().unwrap_or_default(),
        })
    }

    /// What the client of a refused request gets.
    ///
    /// Source: apiserver `admission/plugin/webhook/errors.ToStatusErr`.
    pub(super) fn refusal(&self, webhook: &str) -> Status {
        let text = |field: &str| self.status.get(field).and_then(Value::as_str).unwrap_or_default();
        let code = self.status.get("code").and_then(Value::as_u64).unwrap_or_default();
        let code = u16::try_from(code).ok().and_then(|code| StatusCode::from_u16(code).ok());
        let code = code.filter(|code| code.as_u16() >= 400).unwrap_or(StatusCode::BAD_REQUEST);
        let denied = format!("admission webhook {webhook:?} denied the request");
        let message = match (text("message"), text("reason")) {
            ("", "") => format!("{denied} without explanation"),
            ("", reason) => format!("{denied}: {reason}"),
            (message, _) => format!("{denied}: {message}"),
        };
        let mut status = Status::new(code, text("reason"), message);
        if let Some(details) = self.status.get("details").and_then(Value::as_object) {
            let details = details.iter().map(|(name, value)| (name.to_string(), value.clone().into()));
            status.details = details.collect();
        }
        status
    }
}

fn patch(patch: &str, kind: &str, may_patch: bool) -> Result<Option<Vec<u8>>, String> {
    match (patch, kind) {
        ("", "") => Ok(None),
        (_, "") if !may_patch => Err("validating webhook may not return response.patch".to_owned()),
        _ if !may_patch => Err("validating webhook may not return response.patchType".to_owned()),
        (_, "") => Err("webhook returned response.patch but not response.patchType".to_owned()),
        ("", _) => Err("webhook returned response.patchType but not response.patch".to_owned()),
        (patch, "JSONPatch") => STANDARD.decode(patch).map(Some).map_err(|error| error.to_string()),
        (_, other) => Err(format!("invalid response.patchType of {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: Value, may_patch: bool, expected: &str) {
        let mut review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": "u", "allowed": true},
        });
        crate::patch::merge_patch(&mut review, change);
        let answer = Answer::read(review.to_string().as_bytes(), "u", ReviewVersion::V1, may_patch);
        assert_eq!(answer.err().unwrap_or_default(), expected);
    }

    #[test]
    fn answers_are_judged_as_upstream_judges_them() {
        check(json!({}), true, "");
        check(json!({"response": null}), true, "webhook response was absent");
        check(json!({"response": {"uid": "v"}}), true, r#"expected response.uid="u", got "v""#);
        check(
            json!({"apiVersion": "admission.k8s.io/v1beta1"}),
            true,
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview",
        );
        let patched = |patch: &str, kind: &str| json!({"response": {"patch": patch, "patchType": kind}});
        check(patched("W10=", "JSONPatch"), true, "");
        check(patched("W10=", "Merge"), true, r#"invalid response.patchType of "Merge""#);
        check(patched("W10=", ""), true, "webhook returned response.patch but not response.patchType");
        check(patched("", "JSONPatch"), true, "webhook returned response.patchType but not response.patch");
        check(patched("W10=", "JSONPatch"), false, "validating webhook may not return response.patchType");
        check(patched("W10=", ""), false, "validating webhook may not return response.patch");
    }

    #[test]
    fn a_refusal_is_never_a_success() {
        #[track_caller]
        fn check(status: &Value, expected: (u16, &str, &str)) {
            let status = status.as_object().cloned().unwrap_or_default();
            let refusal = Answer { status, ..Answer::default() }.refusal("a.b.c");
            let (code, reason, message) = expected;
            assert_eq!((refusal.code.as_u16(), &*refusal.reason), (code, reason));
            assert_eq!(refusal.message, format!("admission webhook \"a.b.c\" denied the request{message}"));
        }
        check(&json!({}), (400, "", " without explanation"));
        check(&json!({"code": 200, "message": "no"}), (400, "", ": no"));
        check(&json!({"code": 403, "reason": "Forbidden"}), (403, "Forbidden", ": Forbidden"));
        check(&json!({"code": 422, "reason": "Invalid", "message": "no"}), (422, "Invalid", ": no"));
    }
}

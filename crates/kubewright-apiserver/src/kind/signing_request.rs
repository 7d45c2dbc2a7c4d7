//! Requests for certificates: who asks is noted, and who approves says so on a path of its own.

use std::collections::HashSet;

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;

use super::{
    rules::{Part, Rules},
    strategy::Strategy,
};
use crate::{clock::rfc3339, error::FieldError, object::Object, value::Value};

/// Certificate signing requests.
///
/// # Differences from Go
/// The request has to be one by its form; its signature is not checked.
#[derive(Debug)]
pub(super) struct SigningRequests(pub(super) Rules);

impl Strategy for SigningRequests {
    fn rules(&self) -> &Rules {
        &self.0
    }

    /// What is asked for stays as it is; approval changes the conditions alone, and the status all but the approval.
    ///
    /// Source: certificates `csrStrategy`, `csrStatusStrategy`, `csrApprovalStrategy.PrepareForUpdate`.
    fn prepare_for_update(&self, new: &mut Object, old: &Object, part: Part) {
        new.put("spec", old.0.get("spec").cloned());
        match part {
            Part::Approval => {
                let conditions = new.at("/status/conditions").cloned();
                new.put("status", old.0.get("status").cloned());
                let status = new.section("status");
                match conditions {
                    Some(conditions) => status.insert("conditions".into(), conditions),
                    None => status.remove("conditions"),
                };
            }
            Part::Status => APPROVALS.iter().for_each(|kind| keep_conditions(new, old, kind)),
            Part::Main | Part::Finalize => {}
        }
    }

    fn stamp(&self, new: &mut Object, old: Option<&Object>, now: Timestamp, user: &dyn Fn() -> Value) {
        let Some(old) = old else {
            let (spec, user) = (new.section("spec"), user());
            for field in ["username", "uid", "groups", "extra"] {
                match user.get(field) {
                    Some(value) => spec.insert(field.into(), value.clone()),
                    None => spec.remove(field),
                };
            }
            return;
        };
        for condition in conditions_mut(new) {
            let known = conditions(old)
                .iter()
                .find(|known| known["type"] == condition["type"] && known["status"] == condition["status"]);
            let before = known.map(|known| &known["lastTransitionTime"]).filter(|time| time.is_string());
            let now = Value::from(rfc3339(now));
            for (field, time) in [("lastUpdateTime", &now), ("lastTransitionTime", before.unwrap_or(&now))] {
                if condition[field].is_null() {
                    condition[field] = time.clone();
                }
            }
        }
    }

    /// Source: certificates `validation.validateCertificateSigningRequest`,
    /// `validateCertificateSigningRequestUpdate`.
    fn validate(&self, new: &Object, old: Option<&Object>, part: Part) -> Vec<FieldError> {
        let mut problems = spec(new);
        problems.extend(check_conditions(new));
        if let Some(old) = old {
            problems.extend(changes(new, old, part));
        }
        problems
    }
}

fn spec(new: &Object) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if !is_request(new.str_at("/spec/request")) {
        let detail = "PEM block type must be CERTIFICATE REQUEST";
        problems.push(FieldError::invalid("spec.request", new.at("/spec/request"), detail));
    }
    let usages = new.at("/spec/usages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if usages.is_empty() {
        problems.push(FieldError::required("spec.usages", ""));
    }
    let mut seen = HashSet::new();
    for (index, usage) in usages.iter().enumerate() {
        let (path, text) = (format!("spec.usages[{index}]"), usage.as_str().unwrap_or_default());
        if !USAGES.contains(&text) {
            problems.push(FieldError::not_supported(&path, text, USAGES));
        }
        if !seen.insert(text) {
            problems.push(FieldError::duplicate(&path, usage));
        }
    }
    let signer = new.str_at("/spec/signerName");
    if signer.is_empty() {
        problems.push(FieldError::required("spec.signerName", ""));
    } else if signer.split('/').filter(|part| !part.is_empty()).count() != 2
        || signer.matches('/').count() != 1
    {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        problems.push(FieldError::invalid("spec.signerName", new.at("/spec/signerName"), detail));
    }
    let seconds = new.at("/spec/expirationSeconds");
    if seconds.and_then(Value::as_i64).is_some_and(|seconds| seconds < SHORTEST_SECONDS) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        problems.push(FieldError::invalid("spec.expirationSeconds", seconds, detail));
    }
    problems
}

fn check_conditions(new: &Object) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let (mut seen, mut approvals) = (HashSet::new(), 0);
    for (index, condition) in conditions(new).iter().enumerate() {
        let path = |field: &str| format!("status.conditions[{index}].{field}");
        let text = |field: &str| condition[field].as_str().unwrap_or_default();
        let (kind, status) = (text("type"), text("status"));
        if kind.is_empty() {
            problems.push(FieldError::required(&path("type"), ""));
        }
        let allowed: &[&str] = if FINAL.contains(&kind) { &["True"] } else { &["False", "True", "Unknown"] };
        if status.is_empty() {
            problems.push(FieldError::required(&path("status"), ""));
        } else if !allowed.contains(&status) {
            problems.push(FieldError::not_supported(&path("status"), status, allowed));
        }
        if seen.contains(kind) {
            problems.push(FieldError::duplicate(&path("type"), &condition["type"]));
        } else if APPROVALS.contains(&kind) {
            approvals += 1;
            if approvals > 1 {
                let detail = "Approved and Denied conditions are mutually exclusive";
                problems.push(FieldError::invalid("status.conditions", Some(&condition["type"]), detail));
            }
        }
        seen.insert(kind);
    }
    problems
}

/// What a change may not touch.
fn changes(new: &Object, old: &Object, part: Part) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let mut forbid = |field: &str, detail: &str| {
        problems.push(FieldError::forbidden(&format!("status.{field}"), detail));
    };
    let of = |object: &Object, kind: &str| {
        conditions(object).iter().filter(|it| it["type"] == kind).cloned().collect::<Vec<_>>()
    };
    for kind in FINAL {
        if of(new, kind).len() < of(old, kind).len() {
            forbid("conditions", &format!("updates may not remove a condition of type {kind:?}"));
        }
    }
    if part != Part::Approval {
        for kind in APPROVALS {
            if of(new, kind).len() > of(old, kind).len() {
                forbid("conditions", &format!("updates may not add a condition of type {kind:?}"));
            }
        }
    }
    let (before, after) = (old.str_at("/status/certificate"), new.str_at("/status/certificate"));
    if before != after && part != Part::Status {
        forbid("certificate", "updates may not set certificate content");
    } else if before != after && !before.is_empty() {
        forbid("certificate", "updates may not modify existing certificate content");
    }
    problems
}

/// Puts the conditions of a kind back to what they were, unless some were added or removed.
fn keep_conditions(new: &mut Object, old: &Object, kind: &str) {
    let before: Vec<_> = conditions(old).iter().filter(|it| it["type"] == kind).cloned().collect();
    let after: Vec<_> = conditions_mut(new).iter_mut().filter(|it| it["type"] == kind).collect();
    if before.len() == after.len() {
        after.into_iter().zip(before).for_each(|(after, before)| *after = before);
    }
}

fn conditions(object: &Object) -> &[Value] {
    object.at("/status/conditions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn conditions_mut(object: &mut Object) -> &mut [Value] {
    let status = object.0.get_mut("status").and_then(Value::as_object_mut);
    let list = status.and_then(|status| status.get_mut("conditions")?.as_array_mut());
    list.map(Vec::as_mut_slice).unwrap_or_default()
}

/// Whether base64 holds a request in PEM.
fn is_request(text: &str) -> bool {
    let Some(pem) = STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return false;
    };
    let inside = pem.split_once(&format!("-----BEGIN {REQUEST}-----"));
    let inside = inside.and_then(|(_, rest)| rest.split_once(&format!("-----END {REQUEST}-----")));
    let encoded: Option<String> =
        inside.map(|(encoded, _)| encoded.chars().filter(|it| !it.is_whitespace()).collect());
    // A sequence, in DER.
    encoded.and_then(|encoded| STANDARD.decode(encoded).ok()).is_some_and(|der| der.first() == Some(&0x30))
}

const REQUEST: &str = "CERTIFICATE REQUEST";
const SHORTEST_SECONDS: i64 = 600;
const APPROVALS: &[&str] = &["Approved", "Denied"];
/// Conditions that are true once they are there.
const FINAL: &[&str] = &["Approved", "Denied", "Failed"];
const USAGES: &[&str] = &[
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

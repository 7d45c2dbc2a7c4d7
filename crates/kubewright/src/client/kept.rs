//! Whether the API server has kept what it was sent.

use std::collections::HashSet;

use http::header::CONTENT_TYPE;
use parking_lot::Mutex;
use serde_json::Value;

use super::quantity;
use crate::object::{Kind, ObjectKey};

/// What a write has sent, as far as its answer can be held against it.
#[derive(Debug)]
pub(super) struct Sent {
    body: Value,
    part: Part,
    /// A `null` takes a field away.
    is_merge_patch: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Main,
    Status,
}

/// The fields that were said to be lost already, each once for a kind.
#[derive(Debug, Default)]
pub(super) struct Lost(Mutex<HashSet<(Kind, String)>>);

impl Lost {
    /// Names a field that the answer to a write lacks, or has otherwise.
    pub(super) fn name(&self, kind: &Kind, key: &ObjectKey, field: &str) {
        let mut named = self.0.lock();
        if named.len() < MOST_NAMED && named.insert((kind.clone(), field.to_owned())) {
            tracing::warn!(
                %kind,
                object = %key,
                field,
                "the API server did not keep what was sent: the field may be unknown to its schema, defaulted, or changed by a webhook"
            );
        }
    }
}

impl Sent {
    /// `None` for what cannot be compared: other patches than merges, and subresources that are documents of their own.
    pub(super) fn read(kind: &Kind, key: &ObjectKey, request: &http::Request<Vec<u8>>) -> Option<Self> {
        let form = request.headers().get(CONTENT_TYPE)?.to_str().ok()?;
        if !matches!(
            form,
            "application/json" | "application/merge-patch+json" | "application/apply-patch+yaml"
        ) {
            return None;
        }
        let rest = request.uri().path().strip_prefix(&kind.collection_path(key.namespace()))?;
        let part = match rest.strip_prefix('/').unwrap_or(rest).split_once('/') {
            None => Part::Main,
            Some((_, "status")) => Part::Status,
            Some(_) => return None,
        };
        let body = serde_json::from_slice(request.body()).ok()?;
        Some(Self { body, part, is_merge_patch: form == "application/merge-patch+json" })
    }

    /// The first field that `answer` lacks, or has otherwise.
    pub(super) fn lost(&self, answer: &Value) -> Option<String> {
        self.body.as_object()?.iter().find_map(|(name, sent)| {
            let answer = answer.get(name);
            match (name.as_str(), self.part) {
                ("status", Part::Status) => self.lost_of(name, sent, answer),
                // A Secret's `stringData` is written to be read under another name.
                (_, Part::Status) | ("status" | "apiVersion" | "kind" | "stringData", _) => None,
                ("metadata", Part::Main) => METADATA.iter().find_map(|field| {
                    self.lost_of(&format!("metadata.{field}"), sent.get(field)?, answer?.get(field))
                }),
                _ => self.lost_of(name, sent, answer),
            }
        })
    }

    fn lost_of(&self, path: &str, sent: &Value, answer: Option<&Value>) -> Option<String> {
        let lost = || Some(path.to_owned());
        match (sent, answer.unwrap_or(&Value::Null)) {
            (Value::Null, answer) if self.is_merge_patch && !is_nothing(answer) => lost(),
            // The API server leaves out what is empty.
            (sent, Value::Null) if !is_nothing(sent) => lost(),
            (_, Value::Null) | (Value::Null, _) => None,
            (Value::Object(sent), Value::Object(answer)) => sent
                .iter()
                .find_map(|(name, sent)| self.lost_of(&format!("{path}.{name}"), sent, answer.get(name))),
            (Value::Array(sent), Value::Array(answer)) => {
                sent.iter().enumerate().find_map(|(place, sent)| {
                    // Elements may be kept in another order, or among others.
                    let kept = |answer: &Value| self.lost_of(path, sent, Some(answer)).is_none();
                    if answer.iter().any(kept) {
                        return None;
                    }
                    let same_place = answer.get(place).filter(|answer| answer.is_object());
                    self.lost_of(&format!("{path}[]"), sent, same_place)
                })
            }
            (Value::String(sent), Value::String(answer)) if is_same_text(sent, answer) => None,
            (Value::Number(sent), Value::Number(answer)) if sent.as_f64() == answer.as_f64() => None,
            (sent, answer) if sent == answer => None,
            _ => lost(),
        }
    }
}

/// What the API server need not store.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(fields) => fields.values().all(is_nothing),
    }
}

/// Quantities are stored in their canonical form, timestamps without their fractions.
fn is_same_text(sent: &str, answer: &str) -> bool {
    let second = |text: &str| {
        let is_time = text.len() >= 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z');
        is_time.then(|| text.as_bytes()[..19].to_vec())
    };
    sent == answer
        || quantity::is_same(sent, answer)
        || second(sent).is_some_and(|sent| second(answer) == Some(sent))
}

/// What a writer may say of an object's metadata.
const METADATA: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];
/// More are a map whose keys are made up.
const MOST_NAMED: usize = 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(part: Part, is_merge_patch: bool, sent: Value, answer: &Value, lost: Option<&str>) {
        let sent = Sent { body: sent, part, is_merge_patch };
        assert_eq!(sent.lost(answer).as_deref(), lost);
    }

    #[track_caller]
    fn check_put(sent: Value, answer: &Value, lost: Option<&str>) {
        check(Part::Main, false, sent, answer, lost);
    }

    #[test]
    fn a_lost_field_is_named_by_its_path() {
        check_put(json!({"spec": {"a": {"b": 1}}}), &json!({"spec": {"a": {}}}), Some("spec.a.b"));
        check_put(json!({"spec": {"a": 1}}), &json!({"spec": {"a": 2}}), Some("spec.a"));
        check_put(
            json!({"spec": {"l": [{"name": "x", "a": 1}]}}),
            &json!({"spec": {"l": [{"name": "x"}]}}),
            Some("spec.l[].a"),
        );
        check_put(
            json!({"metadata": {"labels": {"a": "b"}}}),
            &json!({"metadata": {}}),
            Some("metadata.labels"),
        );
        check_put(
            json!({"metadata": {"finalizers": ["a"]}}),
            &json!({"metadata": {"finalizers": ["b"]}}),
            Some("metadata.finalizers[]"),
        );
        check(
            Part::Status,
            false,
            json!({"spec": 1, "status": {"a": 1}}),
            &json!({"status": {}}),
            Some("status.a"),
        );
        check(Part::Main, true, json!({"spec": {"a": null}}), &json!({"spec": {"a": 1}}), Some("spec.a"));
    }

    #[test]
    fn what_is_kept_in_another_form_is_kept() {
        check_put(
            json!({"spec": {"a": 1, "b": [], "c": "", "d": null, "e": {"f": false}}}),
            &json!({"spec": {"a": 1.0, "z": 1}}),
            None,
        );
        check_put(
            json!({"spec": {"cpu": "1000m", "at": "2026-01-01T00:00:00.5Z"}}),
            &json!({"spec": {"cpu": "1", "at": "2026-01-01T00:00:00Z"}}),
            None,
        );
        check_put(
            json!({"spec": {"l": [{"name": "y"}, {"name": "x"}]}}),
            &json!({"spec": {"l": [{"name": "x", "a": 1}, {"name": "y"}]}}),
            None,
        );
        // What this write was not for, and what nobody writes.
        check_put(
            json!({"status": {"a": 1}, "stringData": {"a": "b"}, "metadata": {"resourceVersion": "1"}}),
            &json!({"metadata": {"resourceVersion": "2"}}),
            None,
        );
        check(
            Part::Status,
            false,
            json!({"spec": 1, "status": {"a": 1}}),
            &json!({"spec": 2, "status": {"a": 1}}),
            None,
        );
        check(Part::Main, true, json!({"spec": {"a": null}}), &json!({"spec": {}}), None);
    }

    #[test]
    fn only_documents_and_merges_can_be_compared() {
        let kind = Kind::of::<k8s_openapi::api::core::v1::Pod>();
        let key = ObjectKey::new("n", "a");
        let part = |form: &str, path: &str| {
            let request =
                http::Request::put(format!("/api/v1/namespaces/n/pods{path}")).header(CONTENT_TYPE, form);
            Sent::read(&kind, &key, &request.body(b"{}".to_vec()).unwrap()).map(|sent| sent.part)
        };
        assert_eq!(part("application/json", ""), Some(Part::Main));
        assert_eq!(part("application/json", "/a?x=y"), Some(Part::Main));
        assert_eq!(part("application/merge-patch+json", "/a/status"), Some(Part::Status));
        assert_eq!(part("application/apply-patch+yaml", "/a"), Some(Part::Main));
        assert_eq!(part("application/json", "/a/eviction"), None);
        assert_eq!(part("application/json-patch+json", "/a"), None);
    }
}

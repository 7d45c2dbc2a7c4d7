//! What one write did, as far as its answer says.

use serde_json::Value;

use crate::{
    cache::{
        informer::{Informer, Progress},
        store::{Entry, Uid},
    },
    object::{Kind, ObjectKey},
};

/// The last own write of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::client) struct Write {
    /// The cache has to have come this far.
    version: u64,
    uid: Option<Uid>,
    outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// The API server stored the version.
    Stored,
    /// The API server removed the object that had the uid.
    Removed,
    /// No answer came. The number tells this doubt from a later one.
    Unknown(u64),
}

impl Write {
    /// What the answer to a write says; `None` if it says nothing that could be waited for.
    ///
    /// The object is gone after a write that leaves nothing to hold up its deletion: the answer to the write that takes the last finalizer shows the object at its old
    /// version. The answer to a DELETE may be the object that is gone, too, marked as deleted or not.
    ///
    /// Source: apiserver `registry.Store.Update` (`ShouldDeleteDuringUpdate`) and `Delete` (`ReturnDeletedObject`).
    pub(in crate::client) fn of_answer(is_delete: bool, answer: &Value) -> Option<Self> {
        if answer.get("kind").and_then(Value::as_str) == Some("Status") {
            return Self::of_deletion(answer).filter(|_| is_delete);
        }
        let metadata = answer.get("metadata")?;
        let text = |name: &str| metadata.get(name).and_then(Value::as_str);
        let version = text("resourceVersion")?.parse().ok()?;
        let is_deleting = metadata.get("deletionTimestamp").is_some_and(|it| !it.is_null());
        let is_gone =
            if is_delete { !(is_deleting && is_held(answer)) } else { is_deleting && !is_held(answer) };
        let outcome = if is_gone { Outcome::Removed } else { Outcome::Stored };
        Some(Self { version, uid: text("uid").map(Uid::new), outcome })
    }

    /// What a Status that answers a DELETE says: the object that had this uid is gone.
    fn of_deletion(status: &Value) -> Option<Self> {
        let uid = status.pointer("/details/uid")?.as_str()?;
        Some(Self { version: 0, uid: Some(Uid::new(uid)), outcome: Outcome::Removed })
    }

    /// A state that the API server has shown when it was asked.
    pub(super) fn stored(version: u64, uid: Option<&str>) -> Self {
        Self { version, uid: uid.map(Uid::new), outcome: Outcome::Stored }
    }

    pub(super) fn unknown(doubt: u64) -> Self {
        Self { version: 0, uid: None, outcome: Outcome::Unknown(doubt) }
    }

    pub(in crate::client) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn doubt(&self) -> Option<u64> {
        match self.outcome {
            Outcome::Unknown(doubt) => Some(doubt),
            Outcome::Stored | Outcome::Removed => None,
        }
    }

    /// Whether a reader of `informer` sees this write.
    pub(super) fn is_seen(&self, progress: &Progress, informer: &Informer, key: &ObjectKey) -> bool {
        match self.outcome {
            Outcome::Stored => progress.version >= self.version,
            Outcome::Removed => {
                let is_other = |entry: &Entry| self.uid.as_ref().is_some_and(|uid| entry.uid() != uid);
                progress.version >= self.version && informer.look(key, |entry| entry.is_none_or(is_other))
            }
            Outcome::Unknown(_) => false,
        }
    }

    /// Takes note of another write of the same key. The answers of writes that run side by side come in any order.
    pub(super) fn follow(&mut self, later: Self) {
        let is_stale = match (&self.outcome, &later.outcome) {
            (Outcome::Unknown(_), _) | (_, Outcome::Removed | Outcome::Unknown(_)) => false,
            (Outcome::Removed, Outcome::Stored) => self.uid == later.uid || later.version < self.version,
            (Outcome::Stored, Outcome::Stored) => later.version < self.version,
        };
        let version = self.version.max(later.version);
        if !is_stale {
            let uid = later.uid.or_else(|| self.uid.take());
            *self = Self { uid, ..later };
        }
        self.version = version;
    }

    /// The same write, whose answer is not believed any more.
    pub(super) fn distrusted(&self, doubt: u64) -> Self {
        Self { version: 0, outcome: Outcome::Unknown(doubt), uid: self.uid.clone() }
    }

    /// The API server has no such object: that of which this write, or else the cache, knows is gone. `None` if neither knows of any.
    pub(super) fn removed(&self, cached: Option<&Entry>) -> Option<Self> {
        let uid = cached.map(|entry| entry.uid().clone()).or_else(|| self.uid.clone())?;
        Some(Self { version: self.version, uid: Some(uid), outcome: Outcome::Removed })
    }
}

/// Whether something holds up the deletion of the object: finalizers, a grace period, or what a namespace has of its own.
fn is_held(object: &Value) -> bool {
    let has_any = |path: &str| {
        object.pointer(path).and_then(Value::as_array).is_some_and(|finalizers| !finalizers.is_empty())
    };
    let grace = object.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64);
    let is_namespace = object.get("kind").and_then(Value::as_str) == Some("Namespace")
        && object.get("apiVersion").and_then(Value::as_str) == Some("v1");
    has_any("/metadata/finalizers")
        || grace.is_some_and(|seconds| seconds > 0)
        || (is_namespace && has_any("/spec/finalizers"))
}

/// The key that an answer gives its object; `sent` where it says none.
pub(in crate::client) fn key_of_answer(kind: &Kind, answer: &Value, sent: &ObjectKey) -> ObjectKey {
    let text = |path| answer.pointer(path).and_then(Value::as_str);
    match text("/metadata/name") {
        Some(name) => kind.key(&ObjectKey::new(text("/metadata/namespace").unwrap_or_default(), name)),
        None => kind.key(sent),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UID: &str = "11111111-1111-4111-8111-111111111111";

    fn answer(more: &Value) -> Value {
        let mut answer = json!({ "metadata": { "uid": UID, "resourceVersion": "7" } });
        json_patch(&mut answer, more);
        answer
    }

    fn json_patch(target: &mut Value, more: &Value) {
        match (target, more) {
            (Value::Object(target), Value::Object(more)) => {
                for (name, value) in more {
                    json_patch(target.entry(name.clone()).or_insert(Value::Null), value);
                }
            }
            (target, more) => *target = more.clone(),
        }
    }

    #[track_caller]
    fn check(is_delete: bool, more: &Value, outcome: &Outcome) {
        let write = Write::of_answer(is_delete, &answer(more)).unwrap();
        assert_eq!((&write.outcome, write.version), (outcome, 7));
    }

    #[test]
    fn an_answer_says_whether_its_object_is_still_there() {
        use Outcome::{Removed, Stored};
        let deleting = |more: Value| {
            let mut metadata = json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } });
            json_patch(&mut metadata, &more);
            metadata
        };
        let namespace =
            json!({ "apiVersion": "v1", "kind": "Namespace", "spec": { "finalizers": ["kubernetes"] } });
        let emptied = json!({ "apiVersion": "v1", "kind": "Namespace", "spec": {} });
        let grace = |seconds: u32| json!({ "metadata": { "deletionGracePeriodSeconds": seconds } });
        let finalizers = |names: &[&str]| json!({ "metadata": { "finalizers": names } });

        // Updates and patches.
        check(false, &json!({}), &Stored);
        check(false, &finalizers(&["a/b"]), &Stored);
        check(false, &deleting(finalizers(&["a/b"])), &Stored);
        check(false, &deleting(json!({})), &Removed);
        check(false, &deleting(finalizers(&[])), &Removed);
        check(false, &deleting(grace(0)), &Removed);
        check(false, &deleting(grace(30)), &Stored);
        check(false, &deleting(namespace.clone()), &Stored);
        check(false, &deleting(emptied), &Removed);
        // What another kind calls finalizers in its spec is its own affair.
        check(false, &deleting(json!({ "kind": "Other", "spec": { "finalizers": ["x"] } })), &Removed);

        // Deletions that answer with the object.
        check(true, &json!({}), &Removed);
        check(true, &deleting(json!({})), &Removed);
        check(true, &deleting(grace(30)), &Stored);
        check(true, &deleting(finalizers(&["a/b"])), &Stored);
        check(true, &deleting(namespace), &Stored);
    }

    #[test]
    fn what_has_no_version_cannot_be_waited_for() {
        assert_eq!(Write::of_answer(false, &json!({ "metadata": {} })), None);
        assert_eq!(Write::of_answer(false, &json!({ "metadata": { "resourceVersion": "opaque" } })), None);
        let status = json!({ "kind": "Status", "metadata": {}, "details": { "uid": UID } });
        assert_eq!(Write::of_answer(false, &status), None);
        let gone = Write::of_answer(true, &status).unwrap();
        assert_eq!((gone.outcome, gone.uid), (Outcome::Removed, Some(Uid::new(UID))));
    }

    #[test]
    fn answers_that_come_in_another_order_do_not_undo_each_other() {
        let stored = |version, uid| Write::stored(version, Some(uid));
        let removed = |version, uid| Write { outcome: Outcome::Removed, ..stored(version, uid) };
        let mut last = stored(5, "a");
        last.follow(stored(3, "a"));
        assert_eq!(last, stored(5, "a"));
        last.follow(removed(0, "a"));
        assert_eq!(
            last,
            removed(5, "a"),
            "a Status names no version: the earlier one has to be reached all the same"
        );
        last.follow(stored(4, "a"));
        assert_eq!(last, removed(5, "a"), "an object does not come back");
        last.follow(stored(9, "b"));
        assert_eq!(last, stored(9, "b"), "another object of the same name does");
        last.follow(removed(0, "a"));
        assert_eq!(last, removed(9, "a"), "seen once the new object is there and the old one is not");
        last.follow(Write::unknown(1));
        assert_eq!((last.doubt(), last.version), (Some(1), 9));
        last.follow(stored(12, "b"));
        assert_eq!(last, stored(12, "b"));
    }
}

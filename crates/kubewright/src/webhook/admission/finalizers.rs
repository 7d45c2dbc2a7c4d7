//! Updates that only let an object go.

use serde_json::Value;

use super::{AdmissionRequest, Operation};

/// Whether all that an update does is to take finalizers from an object that is being deleted.
///
/// Whoever refuses that keeps the object for ever, since nobody can mend it any more.
pub(super) fn only_removes_finalizers(request: &AdmissionRequest) -> bool {
    let (Operation::Update, Some(old), Some(new)) = (request.operation, &request.old_object, &request.object)
    else {
        return false;
    };
    if old.pointer("/metadata/deletionTimestamp").is_none_or(Value::is_null) {
        return false;
    }
    let (before, after) = (finalizers(old), finalizers(new));
    after.len() < before.len() && after.iter().all(|one| before.contains(one)) && rest(old) == rest(new)
}

fn finalizers(object: &Value) -> Vec<&str> {
    let list = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The object without its finalizers, and without what the API server writes by itself.
fn rest(object: &Value) -> Value {
    let mut rest = object.clone();
    if let Some(metadata) = rest.get_mut("metadata").and_then(Value::as_object_mut) {
        for name in ["finalizers", "managedFields", "resourceVersion"] {
            metadata.remove(name);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(old: Value, new: Value, passes: bool) {
        let request = AdmissionRequest {
            operation: Operation::Update,
            old_object: Some(old),
            object: Some(new),
            ..AdmissionRequest::default()
        };
        assert_eq!(only_removes_finalizers(&request), passes);
    }

    fn object(deleting: bool, finalizers: &[&str], version: &str, size: i32) -> Value {
        let deletion = deleting.then_some("2026-01-01T00:00:00Z");
        json!({
            "metadata": {"deletionTimestamp": deletion, "finalizers": finalizers, "resourceVersion": version},
            "spec": {"size": size},
        })
    }

    #[test]
    fn only_the_removal_of_finalizers_from_a_deleting_object_passes() {
        let old = || object(true, &["a", "b"], "1", 1);
        check(old(), object(true, &["b"], "2", 1), true);
        check(old(), object(true, &[], "1", 1), true);
        check(old(), object(true, &["a", "b"], "1", 1), false);
        check(old(), object(true, &["c"], "1", 1), false);
        check(old(), object(true, &["b"], "1", 2), false);
        check(object(false, &["a"], "1", 1), object(false, &[], "1", 1), false);
    }
}

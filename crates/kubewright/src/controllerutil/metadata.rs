//! What an author's function cannot undo: whose object it is, and what others have said of it.

use serde_json::{Map, Value};

use crate::object::group_of;

/// Gives `edited` back what belongs to the object that was `read`.
///
/// Identity and history (`uid`, `resourceVersion`, `generation`, timestamps, managed fields) are the API server's: they stay as they were read, whatever the function did.
///
/// Labels, annotations, finalizers, owners and the status depend on what the function did:
/// - It *edited* the object: `uid` and `resourceVersion` are as they were read. What it took away, it took away on purpose.
/// - It *replaced* the object, as `*it = rendered` does: they are not. What the new one has is set; what it does not name stays.
pub(super) fn keep(read: &Value, edited: &mut Value) {
    let (Some(read), Some(edited)) = (read.as_object(), edited.as_object_mut()) else { return };
    let empty = Map::new();
    let read_metadata = read.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
    let metadata = edited.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Some(metadata) = metadata.as_object_mut() else { return };

    let is_replaced = IDENTITY.iter().any(|name| metadata.get(*name) != read_metadata.get(*name));
    for name in IDENTITY.iter().chain(&HISTORY) {
        match read_metadata.get(*name) {
            Some(value) => metadata.insert((*name).to_owned(), value.clone()),
            None => metadata.remove(*name),
        };
    }
    if is_replaced {
        keep_what_others_said(read_metadata, metadata);
        for name in ["apiVersion", "kind", "status"] {
            if let Some(value) = read.get(name)
                && edited.get(name).is_none_or(Value::is_null)
            {
                edited.insert(name.to_owned(), value.clone());
            }
        }
    }
}

fn keep_what_others_said(read: &Map<String, Value>, edited: &mut Map<String, Value>) {
    for name in ["labels", "annotations"] {
        if let Some(Value::Object(theirs)) = read.get(name) {
            let mut all = theirs.clone();
            if let Some(Value::Object(ours)) = edited.remove(name) {
                all.extend(ours);
            }
            edited.insert(name.to_owned(), Value::Object(all));
        }
    }
    unite(read, edited, "finalizers", |left, right| left == right);
    unite(read, edited, "ownerReferences", is_same_owner);
}

/// The elements that were read, each in its new form if there is one, then the new ones.
fn unite(
    read: &Map<String, Value>,
    edited: &mut Map<String, Value>,
    name: &str,
    is_same: impl Fn(&Value, &Value) -> bool,
) {
    let Some(Value::Array(theirs)) = read.get(name) else { return };
    let mut ours = match edited.remove(name) {
        Some(Value::Array(ours)) => ours,
        _ => Vec::new(),
    };
    let mut all = Vec::with_capacity(theirs.len() + ours.len());
    for element in theirs {
        match ours.iter().position(|other| is_same(element, other)) {
            Some(index) => all.push(ours.remove(index)),
            None => all.push(element.clone()),
        }
    }
    all.extend(ours);
    edited.insert(name.to_owned(), Value::Array(all));
}

/// Group, kind and name are equal, as for [`set_owner_reference`](super::set_owner_reference).
fn is_same_owner(left: &Value, right: &Value) -> bool {
    let text = |reference: &Value, name: &str| {
        reference.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let same = |name: &str| text(left, name) == text(right, name);
    same("kind")
        && same("name")
        && group_of(&text(left, "apiVersion")) == group_of(&text(right, "apiVersion"))
}

const IDENTITY: [&str; 2] = ["uid", "resourceVersion"];
const HISTORY: [&str; 7] = [
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generateName",
    "managedFields",
    "selfLink",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read() -> Value {
        let owner = json!({"apiVersion": "a/v1", "kind": "K", "name": "theirs", "uid": "1"});
        json!({
            "metadata": {
                "name": "n", "uid": "u", "resourceVersion": "7", "creationTimestamp": "t", "generation": 2,
                "labels": {"theirs": "l"}, "annotations": {"theirs": "a"}, "finalizers": ["theirs"], "ownerReferences": [owner],
            },
            "spec": 1,
            "status": {"seen": 1},
        })
    }

    #[track_caller]
    fn check(mut edited: Value, expected: &Value) {
        keep(&read(), &mut edited);
        assert_eq!(&edited, expected);
    }

    #[test]
    fn a_rendered_object_in_its_place_takes_nothing_from_others() {
        let mine = json!({"apiVersion": "a/v2", "kind": "K", "name": "theirs", "uid": "2"});
        let more = json!({"apiVersion": "v1", "kind": "K", "name": "mine", "uid": "3"});
        let rendered = json!({
            "metadata": {"name": "n", "labels": {"mine": "l"}, "finalizers": ["mine"], "ownerReferences": [more, mine]},
            "spec": 2,
        });
        let mut expected = read();
        expected["spec"] = 2.into();
        expected["metadata"]["labels"]["mine"] = "l".into();
        expected["metadata"]["finalizers"] = json!(["theirs", "mine"]);
        expected["metadata"]["ownerReferences"] = json!([mine, more]);
        check(rendered, &expected);
        // A bare one, too.
        let mut expected = read();
        expected.as_object_mut().unwrap().remove("spec");
        check(json!({"metadata": {"name": "n"}}), &expected);
        check(json!({}), &{
            expected["metadata"].as_object_mut().unwrap().remove("name");
            expected
        });
    }

    #[test]
    fn what_an_edit_takes_away_goes() {
        let mut edited = read();
        let metadata = edited["metadata"].as_object_mut().unwrap();
        for name in ["labels", "finalizers", "ownerReferences", "annotations"] {
            metadata.remove(name);
        }
        edited.as_object_mut().unwrap().remove("status");
        check(edited.clone(), &edited.clone());
    }

    #[test]
    fn nobody_but_the_api_server_writes_history() {
        let mut edited = read();
        edited["metadata"]["generation"] = 9.into();
        edited["metadata"]["deletionTimestamp"] = "t".into();
        check(edited, &read());
        // Whoever changes the version means the object, and replaces it.
        let mut edited = read();
        edited["metadata"]["resourceVersion"] = "1".into();
        check(edited, &read());
    }
}

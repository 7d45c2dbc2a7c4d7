//! What an author's function has changed, carried over to the JSON that was read.
//!
//! A Rust type may know less than the API server: an older release beside a newer definition, a struct of a few fields. So what is written is never the type, but the document that
//! was read with the changes that the type shows.

use serde_json::{Map, Value, json};

/// A document as it was read, and as it should become.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(super) read: Value,
    pub(super) wanted: Value,
}

/// A merge patch (RFC 7386).
#[derive(Debug, PartialEq)]
pub(super) struct MergePatch {
    pub(super) patch: Value,
    /// It replaces or removes a list as a whole: what others have put into it since would be lost.
    pub(super) touches_list: bool,
}

impl Difference {
    /// The patch of everything but the status, and the patch of the status.
    pub(super) fn patches(&self) -> (Option<MergePatch>, Option<MergePatch>) {
        let split = |document: &Value| {
            let mut main = document.as_object().cloned().unwrap_or_default();
            let status = main.remove("status");
            (Value::Object(main), status.map_or_else(|| json!({}), |status| json!({ "status": status })))
        };
        let ((read, read_status), (wanted, wanted_status)) = (split(&self.read), split(&self.wanted));
        (MergePatch::between(&read, &wanted), MergePatch::between(&read_status, &wanted_status))
    }

    /// The part of it that concerns the status; `None` if there is none.
    pub(super) fn of_status(self) -> Option<Self> {
        let Self { read, wanted } = self;
        if read.get("status") == wanted.get("status") {
            return None;
        }
        let mut document = read.clone();
        match (document.as_object_mut(), wanted.get("status")) {
            (Some(document), Some(status)) => document.insert("status".to_owned(), status.clone()),
            (Some(document), None) => document.remove("status"),
            (None, _) => None,
        };
        Some(Self { read, wanted: document })
    }

    /// A text that is the same for the same change from the same state. The rest of the document does not matter.
    pub(super) fn fingerprint(&self) -> String {
        let forth = merge_patch(&self.read, &self.wanted);
        let back = merge_patch(&self.wanted, &self.read);
        json!([forth, back]).to_string()
    }

    pub(super) fn uid(&self) -> Option<&str> {
        metadata(&self.read, "uid")
    }

    pub(super) fn resource_version(&self) -> Option<&str> {
        metadata(&self.read, "resourceVersion")
    }

    /// Whether the document that was read has finalizers.
    pub(super) fn has_finalizers(&self) -> bool {
        self.read.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|all| !all.is_empty())
    }
}

impl MergePatch {
    fn between(before: &Value, after: &Value) -> Option<Self> {
        let patch = merge_patch(before, after)?;
        let touches_list = touches_list(before, &patch);
        Some(Self { patch, touches_list })
    }

    /// The patch holds for one object only, and with a version for one state of it.
    pub(super) fn of_object(mut self, uid: Option<&str>, resource_version: Option<&str>) -> Value {
        let preconditions = [("uid", uid), ("resourceVersion", resource_version)];
        for (name, value) in preconditions.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            self.patch["metadata"][name] = value.into();
        }
        self.patch
    }
}

/// `raw` with what differs between two states of its typed view.
///
/// Elements of lists are recognised by what they are called, else by their place, so that a list whose element changes keeps what the type does not know of the others and of this one.
pub(crate) fn graft(raw: &Value, before: &Value, after: &Value) -> Value {
    match (raw, before, after) {
        _ if before == after => raw.clone(),
        (Value::Object(raw), Value::Object(before), Value::Object(after)) => {
            Value::Object(graft_members(raw, before, after))
        }
        (Value::Array(raw), Value::Array(before), Value::Array(after)) if raw.len() == before.len() => {
            graft_elements(raw, before, after)
        }
        _ => after.clone(),
    }
}

fn graft_members(
    raw: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Map<String, Value> {
    let mut grafted = raw.clone();
    grafted.retain(|name, _| after.contains_key(name) || !before.contains_key(name));
    for (name, value) in after {
        if before.get(name) == Some(value) {
            continue;
        }
        let empty = json!({});
        let value = match raw.get(name) {
            // The type leaves out what is empty to it; there may be more than it knows.
            Some(raw) => graft(raw, before.get(name).unwrap_or(&empty), value),
            None => value.clone(),
        };
        grafted.insert(name.clone(), value);
    }
    grafted
}

fn graft_elements(raw: &[Value], before: &[Value], after: &[Value]) -> Value {
    let mut free: Vec<bool> = vec![true; before.len()];
    let mut take = |fits: &dyn Fn(usize) -> bool| {
        let found = (0..before.len()).find(|&index| free[index] && fits(index))?;
        free[found] = false;
        Some(found)
    };
    // What has not changed finds itself first.
    let mut origin: Vec<Option<usize>> =
        after.iter().map(|element| take(&|index| before[index] == *element)).collect();
    for (element, origin) in after.iter().zip(&mut origin) {
        if origin.is_none() && identity(element).is_some() {
            *origin = take(&|index| identity(&before[index]) == identity(element));
        }
    }
    if before.len() == after.len() {
        for (place, origin) in origin.iter_mut().enumerate() {
            if origin.is_none() && identity(&after[place]).is_none() {
                *origin = take(&|index| index == place && identity(&before[index]).is_none());
            }
        }
    }
    let grafted = after.iter().zip(origin).map(|(element, origin)| match origin {
        Some(index) => graft(&raw[index], &before[index], element),
        None => element.clone(),
    });
    Value::Array(grafted.collect())
}

/// What an element of a list is called: the field that Kubernetes' own lists are merged by.
fn identity(element: &Value) -> Option<(&'static str, &Value)> {
    let fields = element.as_object()?;
    MERGE_KEYS.iter().find_map(|name| Some((*name, fields.get(*name).filter(|value| !value.is_null())?)))
}

/// The merge patch that makes `after` of `before`; `None` if they are equal.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return Some(after.clone()) };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        let change =
            before.get(name).map_or_else(|| Some(value.clone()), |before| merge_patch(before, value));
        patch.extend(change.map(|change| (name.clone(), change)));
    }
    Some(Value::Object(patch))
}

/// Whether a patch of `before` writes a list, or takes one away.
fn touches_list(before: &Value, patch: &Value) -> bool {
    match (before, patch) {
        (Value::Object(before), Value::Object(patch)) => {
            patch.iter().any(|(name, patch)| touches_list(before.get(name).unwrap_or(&Value::Null), patch))
        }
        (before, patch) => has_list(before) || has_list(patch),
    }
}

fn has_list(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(fields) => fields.values().any(has_list),
        _ => false,
    }
}

fn metadata<'a>(document: &'a Value, name: &str) -> Option<&'a str> {
    document.get("metadata")?.get(name)?.as_str()
}

/// In the order in which they tell elements apart.
///
/// Source: `x-kubernetes-patch-merge-key` and `x-kubernetes-list-map-keys` of the built-in kinds.
const MERGE_KEYS: [&str; 10] =
    ["uid", "name", "type", "key", "mountPath", "devicePath", "containerPort", "port", "ip", "topologyKey"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_patch(before: &Value, after: &Value, patch: &Value, touches_list: bool) {
        let expected = MergePatch { patch: patch.clone(), touches_list };
        assert_eq!(MergePatch::between(before, after), Some(expected));
    }

    #[test]
    fn a_patch_names_what_changed_and_nothing_else() {
        let before = json!({"a": 1, "b": {"c": 1, "d": [1, 2]}, "e": 1});
        let after = json!({"a": 1, "b": {"c": 2, "d": [1]}, "f": {"g": 1}});
        check_patch(&before, &after, &json!({"b": {"c": 2, "d": [1]}, "e": null, "f": {"g": 1}}), true);
        check_patch(&json!({"a": 1}), &json!({"a": 2}), &json!({"a": 2}), false);
        check_patch(&json!({"a": {"b": [1]}, "c": 1}), &json!({"c": 1}), &json!({"a": null}), true);
        assert_eq!(MergePatch::between(&after, &after), None);
    }

    #[test]
    fn a_patch_of_a_list_holds_for_one_state_and_any_patch_for_one_object() {
        let patch = MergePatch { patch: json!({"metadata": {"labels": {"a": "b"}}}), touches_list: false };
        let of_state = json!({"metadata": {"labels": {"a": "b"}, "uid": "u", "resourceVersion": "7"}});
        assert_eq!(patch.of_object(Some("u"), Some("7")), of_state);
        let patch = MergePatch { patch: json!({"spec": 1}), touches_list: false };
        assert_eq!(patch.of_object(Some("u"), None), json!({"spec": 1, "metadata": {"uid": "u"}}));
    }

    #[test]
    fn the_status_is_patched_apart() {
        let difference = Difference {
            read: json!({"spec": 1, "status": {"a": [1]}}),
            wanted: json!({"spec": 2, "status": {"a": [2]}}),
        };
        let (main, status) = difference.patches();
        assert_eq!(main.unwrap().patch, json!({"spec": 2}));
        assert_eq!(status.unwrap().patch, json!({"status": {"a": [2]}}));
        let same = Difference { read: json!({"status": 1}), wanted: json!({"status": 1}) };
        assert_eq!(same.patches(), (None, None));
    }

    #[test]
    fn a_fingerprint_is_that_of_the_change_and_of_where_it_starts() {
        let of = |read: Value, wanted: Value| Difference { read, wanted }.fingerprint();
        let first = of(json!({"a": "1", "b": 1}), json!({"a": "1000m", "b": 1}));
        assert_eq!(first, of(json!({"a": "1", "b": 2}), json!({"a": "1000m", "b": 2})));
        assert_ne!(first, of(json!({"a": "2", "b": 1}), json!({"a": "1000m", "b": 1})));
        assert_ne!(first, of(json!({"a": "1", "b": 1}), json!({"a": "2000m", "b": 1})));
    }

    /// What the type does not know is called `x`.
    #[track_caller]
    fn check_graft(raw: &Value, before: &Value, after: &Value, grafted: &Value) {
        assert_eq!(&graft(raw, before, after), grafted);
    }

    #[test]
    fn what_the_type_does_not_know_stays() {
        let raw = json!({"a": 1, "x": 1, "b": {"c": 1, "x": 2}});
        let before = json!({"a": 1, "b": {"c": 1}});
        check_graft(
            &raw,
            &before,
            &json!({"a": 2, "b": {"c": 1}}),
            &json!({"a": 2, "x": 1, "b": {"c": 1, "x": 2}}),
        );
        check_graft(
            &raw,
            &before,
            &json!({"b": {"c": 3, "d": 4}}),
            &json!({"x": 1, "b": {"c": 3, "d": 4, "x": 2}}),
        );
        check_graft(&raw, &before, &json!({"a": 1}), &json!({"a": 1, "x": 1}));
        // The type leaves out what it finds empty.
        check_graft(
            &json!({"b": {"x": 1}}),
            &json!({}),
            &json!({"b": {"c": 1}}),
            &json!({"b": {"c": 1, "x": 1}}),
        );
    }

    #[test]
    fn elements_of_a_list_keep_what_the_type_does_not_know() {
        let raw = json!([{"name": "a", "v": 1, "x": 1}, {"name": "b", "v": 2, "x": 2}]);
        let before = json!([{"name": "a", "v": 1}, {"name": "b", "v": 2}]);
        // Changed, in another order, with one more and one less.
        check_graft(
            &raw,
            &before,
            &json!([{"name": "a", "v": 9}, {"name": "b", "v": 2}]),
            &json!([{"name": "a", "v": 9, "x": 1}, {"name": "b", "v": 2, "x": 2}]),
        );
        check_graft(
            &raw,
            &before,
            &json!([{"name": "b", "v": 2}, {"name": "c", "v": 3}]),
            &json!([{"name": "b", "v": 2, "x": 2}, {"name": "c", "v": 3}]),
        );
        // Another name is another element, even at the same place.
        check_graft(
            &raw,
            &before,
            &json!([{"name": "a", "v": 1}, {"name": "d", "v": 2}]),
            &json!([{"name": "a", "v": 1, "x": 1}, {"name": "d", "v": 2}]),
        );
        // Elements without a name are known by their place.
        let (raw, before) = (json!([{"v": 1, "x": 1}, {"v": 2, "x": 2}]), json!([{"v": 1}, {"v": 2}]));
        check_graft(
            &raw,
            &before,
            &json!([{"v": 1}, {"v": 3}]),
            &json!([{"v": 1, "x": 1}, {"v": 3, "x": 2}]),
        );
        check_graft(&json!([1, 2]), &json!([1, 2]), &json!([2, 3]), &json!([2, 3]));
    }

    fn object() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<i64>().prop_map(Value::from), "[a-c]".prop_map(Value::from)];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::btree_map("[a-d]", inner.clone(), 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
                prop::collection::vec(inner, 0..4).prop_map(Value::Array),
            ]
        })
    }

    fn apply(target: &mut Value, patch: Value) {
        let Value::Object(patch) = patch else {
            *target = patch;
            return;
        };
        if !target.is_object() {
            *target = json!({});
        }
        for (name, change) in patch {
            if change.is_null() {
                target.as_object_mut().unwrap().remove(&name);
            } else {
                apply(&mut target[name], change);
            }
        }
    }

    proptest! {
        #[test]
        fn the_patch_of_two_objects_makes_one_of_the_other(before in object(), after in object()) {
            let mut patched = before.clone();
            if let Some(patch) = merge_patch(&before, &after) { apply(&mut patched, patch); }
            prop_assert_eq!(patched, after);
        }

        #[test]
        fn where_the_type_knows_everything_the_graft_is_what_the_author_wants(before in object(), after in object()) {
            prop_assert_eq!(graft(&before, &before, &after), after);
        }
    }
}

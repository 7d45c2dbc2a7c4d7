//! What the server does to the metadata of every kind, and to its generation.

use jiff::Timestamp;

use super::{cluster::Cluster, validation::IMMUTABLE};
use crate::{
    clock::rfc3339,
    error::{FieldError, Status},
    kind::{Generation, Kind, NewStatus, Part, StatusMetadata},
    object::Object,
    value::{Map, Value},
};

/// Gives a new object its identity: the fields that only the server may set.
///
/// Source: apiserver `rest.FillObjectMetaSystemFields`, `rest.BeforeCreate`.
pub(super) fn before_create(cluster: &Cluster, kind: &Kind, object: &mut Object) {
    let metadata = object.metadata_mut();
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"] {
        metadata.remove(field);
    }
    drop_empty(metadata);
    metadata.insert("uid".into(), cluster.identity.uid().into());
    metadata.insert("creationTimestamp".into(), rfc3339(cluster.clock.now()).into());
    if kind.strategy.rules().generation != Generation::None {
        metadata.insert("generation".into(), 1.into());
    }
    if kind.has_status() && kind.strategy.rules().new_status == NewStatus::Dropped {
        object.put("status", None);
    }
    kind.strategy.set_defaults(object);
    kind.strategy.prepare_for_create(object);
}

/// Makes `new` a legal successor of `old`: parts that this write may not change are put back.
///
/// Source: apiserver `rest.BeforeUpdate`, and the `PrepareForUpdate` of the strategies.
pub(super) fn before_update(kind: &Kind, old: &Object, new: &mut Object, part: Part) {
    if part != Part::Main {
        restore_all_but(part, kind, old, new);
    } else if kind.has_status() {
        new.put("status", old.0.get("status").cloned());
    }
    let metadata = new.metadata_mut();
    drop_empty(metadata);
    // A client that sends none does not know them: that is no wish to lose them.
    if !metadata.contains_key("managedFields")
        && let Some(known) = old.metadata().get("managedFields")
    {
        metadata.insert("managedFields".into(), known.clone());
    }
    for field in OWNED_BY_SERVER {
        match old.metadata().get(field) {
            Some(value) => metadata.insert((*field).into(), value.clone()),
            None => metadata.remove(field),
        };
    }
    // A deletion is not taken back, and what is left out is what it was.
    for field in IMMUTABLE {
        if let Some(value) = old.metadata().get(field)
            && (*field == "deletionTimestamp" || !metadata.contains_key(field))
        {
            metadata.insert((*field).into(), value.clone());
        }
    }
    kind.strategy.set_defaults(new);
    kind.strategy.prepare_for_update(new, old, part);
    if generation_goes_up(kind, old, new) {
        new.metadata_mut().insert("generation".into(), (old.generation() + 1).into());
    }
}

/// Marks an object as being deleted, to be removed `grace` seconds from now; with `None` nobody has a say in when.
pub(super) fn mark_deleted(object: &mut Object, now: Timestamp, grace: Option<i64>) {
    let at = now.as_second().saturating_add(grace.unwrap_or_default());
    let at = Timestamp::from_second(at).unwrap_or(Timestamp::MAX);
    let generation = object.generation();
    let metadata = object.metadata_mut();
    metadata.insert("deletionTimestamp".into(), rfc3339(at).into());
    if let Some(grace) = grace {
        metadata.insert("deletionGracePeriodSeconds".into(), grace.into());
    }
    if generation > 0 {
        metadata.insert("generation".into(), (generation + 1).into());
    }
}

/// A write to a subresource changes that part alone, and as much of the metadata as the kind allows.
fn restore_all_but(part: Part, kind: &Kind, old: &Object, new: &mut Object) {
    let own = match part {
        Part::Finalize => "spec",
        Part::Main | Part::Status | Part::Approval => "status",
    };
    let mut restored = old.clone();
    restored.put(own, new.0.get(own).cloned());
    let kept: &[&str] = match (part, kind.strategy.rules().status_metadata) {
        (Part::Finalize, _) | (_, StatusMetadata::Kept) => {
            // The version is what the write was made against, and is checked apart.
            new.0 = restored.0;
            return;
        }
        (_, StatusMetadata::LabelsKept) => &["labels"],
        (_, StatusMetadata::Written) => &[],
    };
    let mut metadata = new.metadata().clone();
    for field in kept {
        match old.metadata().get(field) {
            Some(value) => metadata.insert((*field).into(), value.clone()),
            None => metadata.remove(field),
        };
    }
    restored.0.insert("metadata".into(), metadata.into());
    new.0 = restored.0;
}

fn generation_goes_up(kind: &Kind, old: &Object, new: &Object) -> bool {
    let spec_changed = || old.0.get("spec") != new.0.get("spec");
    match kind.strategy.rules().generation {
        Generation::None => false,
        Generation::Spec => spec_changed(),
        Generation::SpecAndAnnotations => {
            spec_changed() || old.metadata().get("annotations") != new.metadata().get("annotations")
        }
        Generation::Content => {
            let content = |object: &Object| {
                let mut content = object.0.clone();
                content.remove("metadata");
                if kind.has_status() {
                    content.remove("status");
                }
                content
            };
            content(old) != content(new)
        }
    }
}

/// Go leaves out what is empty.
fn drop_empty(metadata: &mut Map) {
    metadata.retain(|_, value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    });
}

/// Drops owner references that are there twice. Returns whose they were.
pub(super) fn drop_repeated_owners(object: &mut Object) -> Vec<String> {
    let mut repeated = Vec::new();
    if !object.metadata().contains_key("ownerReferences") {
        return repeated;
    }
    if let Some(Value::Array(references)) = object.metadata_mut().get_mut("ownerReferences") {
        let mut seen = Vec::new();
        references.retain(|reference| {
            let is_new = !seen.contains(reference);
            if is_new {
                seen.push(reference.clone());
            } else {
                repeated.push(reference["uid"].as_str().unwrap_or_default().to_owned());
            }
            is_new
        });
    }
    repeated
}

/// Fields that a client's write cannot change.
const OWNED_BY_SERVER: &[&str] = &["generation", "creationTimestamp", "selfLink"];

/// Refuses what `problems` lists.
pub(super) fn refuse(kind: &Kind, name: &str, problems: &[FieldError]) -> Result<(), Status> {
    if problems.is_empty() { Ok(()) } else { Err(Status::invalid(kind, name, problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kind::Kinds,
        value::{Value, json},
    };

    fn object(value: &Value) -> Object {
        Object(value.as_object().cloned().unwrap())
    }

    /// The generation after a change of `old` to `new` through `part`.
    #[track_caller]
    fn check(group: &str, plural: &str, part: Part, old: &Value, new: &Value, expected: Option<i64>) {
        let kind = Kinds::new().current().find(group, "v1", plural).unwrap().clone();
        let mut old = object(old);
        kind.strategy.set_defaults(&mut old);
        let mut new = object(new);
        before_update(&kind, &old, &mut new, part);
        assert_eq!(new.metadata().get("generation").and_then(Value::as_i64), expected);
    }

    #[test]
    fn generation_goes_up_with_what_the_kind_says() {
        let with =
            |metadata: Value, replicas: i64| json!({"metadata": metadata, "spec": {"replicas": replicas}});
        let old = with(json!({"generation": 4}), 1);
        let annotated = with(json!({"generation": 9, "annotations": {"a": "b"}}), 1);
        check("apps", "deployments", Part::Main, &old, &with(json!({}), 1), Some(4));
        check("apps", "deployments", Part::Main, &old, &with(json!({}), 2), Some(5));
        check("apps", "deployments", Part::Main, &old, &annotated, Some(5));
        check("apps", "statefulsets", Part::Main, &old, &annotated, Some(4));
        check("apps", "deployments", Part::Status, &old, &with(json!({}), 2), Some(4));
        check("", "configmaps", Part::Main, &json!({"metadata": {}}), &json!({"data": {"a": "b"}}), None);
    }

    #[test]
    fn the_server_keeps_its_own_fields() {
        let kind = Kinds::new().current().find("", "v1", "configmaps").unwrap().clone();
        let old = object(&json!({"metadata": {"uid": "u", "creationTimestamp": "t", "labels": {"a": "b"}}}));
        let mut new = object(&json!({"metadata": {"uid": "", "creationTimestamp": null, "labels": {},
            "selfLink": "x"}}));
        before_update(&kind, &old, &mut new, Part::Main);
        assert_eq!(Value::from(new.0), json!({"metadata": {"uid": "u", "creationTimestamp": "t"}}));
    }
}

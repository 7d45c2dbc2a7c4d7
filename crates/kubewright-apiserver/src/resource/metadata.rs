//! What the server does to the metadata of every kind, and to its generation.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::update::Part;
use crate::{
    clock::rfc3339,
    kind::{Generation, Kind, NewStatus, StatusMetadata},
    object::Object,
    server::Shared,
    wire::{FieldError, Status},
};

/// Gives a new object its identity: the fields that only the server may set.
///
/// Source: apiserver `rest.FillObjectMetaSystemFields`, `rest.BeforeCreate`.
pub(super) fn before_create(shared: &Shared, kind: &Kind, object: &mut Object) {
    let metadata = object.metadata_mut();
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"] {
        metadata.remove(field);
    }
    drop_empty(metadata);
    metadata.insert("uid".into(), shared.identity.uid().into());
    metadata.insert("creationTimestamp".into(), rfc3339(shared.clock.now()).into());
    if kind.strategy.generation != Generation::None {
        metadata.insert("generation".into(), 1.into());
    }
    if kind.has_status() && kind.strategy.new_status == NewStatus::Dropped {
        object.put("status", None);
    }
    (kind.strategy.default)(object);
    (kind.strategy.prepare_for_create)(object);
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
    if part != Part::Finalize && kind.is("", "namespaces") {
        let finalizers = old.at("/spec/finalizers").cloned();
        let spec = new.section("spec");
        match finalizers {
            Some(finalizers) => spec.insert("finalizers".into(), finalizers),
            None => spec.remove("finalizers"),
        };
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
        match old.metadata().get(*field) {
            Some(value) => metadata.insert((*field).into(), value.clone()),
            None => metadata.remove(*field),
        };
    }
    // A deletion is not taken back, and what is left out is what it was.
    for field in IMMUTABLE {
        if let Some(value) = old.metadata().get(*field)
            && (*field == "deletionTimestamp" || !metadata.contains_key(*field))
        {
            metadata.insert((*field).into(), value.clone());
        }
    }
    (kind.strategy.default)(new);
    (kind.strategy.prepare_for_update)(new, old);
    if generation_goes_up(kind, old, new) {
        new.metadata_mut().insert("generation".into(), (old.generation() + 1).into());
    }
}

/// What is wrong with the metadata of an object, or of its change.
///
/// Source: apimachinery `api/validation.ValidateObjectMeta`, `ValidateObjectMetaUpdate`.
pub(super) fn validate(kind: &Kind, new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if old.is_none() {
        if new.name().is_empty() {
            problems.push(FieldError::required("metadata.name", "name or generateName is required"));
        } else {
            let name = new.metadata().get("name");
            let texts = kind.strategy.name_rule.check(new.name());
            problems.extend(texts.iter().map(|text| FieldError::invalid("metadata.name", name, text)));
        }
    }
    if let Some(old) = old
        && old.is_terminating()
    {
        let before = old.finalizers();
        let added: Vec<_> = new.finalizers().into_iter().filter(|name| !before.contains(name)).collect();
        if !added.is_empty() {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
            );
            problems.push(FieldError::forbidden("metadata.finalizers", &detail));
        }
    }
    if let Some(old) = old {
        let differs = |field: &&&str| new.metadata().get(**field) != old.metadata().get(**field);
        let changed = IMMUTABLE.iter().filter(differs);
        problems
            .extend(changed.map(|field| {
                FieldError::immutable(&format!("metadata.{field}"), new.metadata().get(*field))
            }));
    }
    problems.extend(owner_references(new));
    problems
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

fn owner_references(object: &Object) -> Vec<FieldError> {
    let references = object.metadata().get("ownerReferences").and_then(Value::as_array);
    let references = references.map(Vec::as_slice).unwrap_or_default();
    let mut problems = Vec::new();
    let mut controllers = Vec::new();
    for reference in references {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if reference[field].as_str().unwrap_or_default().is_empty() {
                let path = format!("metadata.ownerReferences.{field}");
                let detail =
                    if field == "apiVersion" { "version must not be empty" } else { "must not be empty" };
                problems.push(FieldError::invalid(&path, Some(&"".into()), detail));
            }
        }
        if reference["controller"] == Value::Bool(true) {
            controllers.push(reference["name"].as_str().unwrap_or_default());
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        let value = Value::from(references.to_vec());
        problems.push(FieldError::invalid("metadata.ownerReferences", Some(&value), &detail));
    }
    problems
}

/// A write to a subresource changes that part alone, and as much of the metadata as the kind allows.
fn restore_all_but(part: Part, kind: &Kind, old: &Object, new: &mut Object) {
    let own = match part {
        Part::Finalize => "spec",
        Part::Main | Part::Status => "status",
    };
    let mut restored = old.clone();
    restored.put(own, new.0.get(own).cloned());
    let kept: &[&str] = match (part, kind.strategy.status_metadata) {
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
        match old.metadata().get(*field) {
            Some(value) => metadata.insert((*field).into(), value.clone()),
            None => metadata.remove(*field),
        };
    }
    restored.0.insert("metadata".into(), metadata.into());
    new.0 = restored.0;
}

fn generation_goes_up(kind: &Kind, old: &Object, new: &Object) -> bool {
    let spec_changed = || old.0.get("spec") != new.0.get("spec");
    match kind.strategy.generation {
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
fn drop_empty(metadata: &mut Map<String, Value>) {
    metadata.retain(|_, value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    });
}

/// Fields that a client's write cannot change.
const OWNED_BY_SERVER: &[&str] = &["generation", "creationTimestamp", "selfLink"];

/// Fields that a client may repeat or leave out. Others than those that are stored are an error.
const IMMUTABLE: &[&str] = &["uid", "deletionTimestamp", "deletionGracePeriodSeconds"];

/// Refuses what `problems` lists.
pub(super) fn refuse(kind: &Kind, name: &str, problems: &[FieldError]) -> Result<(), Status> {
    if problems.is_empty() { Ok(()) } else { Err(Status::invalid(kind, name, problems)) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::kind::Kinds;

    fn object(value: &Value) -> Object {
        Object(value.as_object().cloned().unwrap())
    }

    /// The generation after a change of `old` to `new` through `part`.
    #[track_caller]
    fn check(group: &str, plural: &str, part: Part, old: &Value, new: &Value, expected: Option<i64>) {
        let kind = Kinds::new().current().find(group, "v1", plural).unwrap().clone();
        let mut old = object(old);
        (kind.strategy.default)(&mut old);
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

    #[test]
    fn only_one_owner_controls() {
        let owner = |name: &str| json!({"apiVersion": "v1", "kind": "K", "name": name, "uid": name, "controller": true});
        let problems =
            owner_references(&object(&json!({"metadata": {"ownerReferences": [owner("a"), owner("b")]}})));
        assert_eq!(problems.len(), 1);
        let expected =
            "Only one reference can have Controller set to true. Found \"true\" in references for a and b";
        assert!(problems[0].to_string().ends_with(expected));
        let nameless = owner_references(&object(&json!({"metadata": {"ownerReferences": [owner("")]}})));
        assert_eq!(nameless.len(), 2, "neither name nor uid");
    }
}

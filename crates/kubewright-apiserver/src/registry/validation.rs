//! What may stand in the metadata of an object, and what a change of it may do.
//!
//! Source: apimachinery `api/validation.ValidateObjectMeta`, `ValidateObjectMetaUpdate`.

use crate::{
    error::FieldError,
    kind::{Kind, labels_and_annotations},
    name::check_qualified_name,
    object::Object,
    value::Value,
};

/// What is wrong with the metadata of an object, or of its change.
pub(super) fn validate(kind: &Kind, new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = match old {
        None => names(kind, new),
        Some(old) => changes(new, old),
    };
    problems.extend(labels_and_annotations(new));
    problems.extend(owner_references(new));
    problems.extend(finalizers(kind, new));
    problems
}

fn names(kind: &Kind, object: &Object) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let mut check = |field: &str, name: &str| {
        let path = format!("metadata.{field}");
        let texts = kind.strategy.rules().name_rule.check(name);
        problems
            .extend(texts.iter().map(|text| FieldError::invalid(&path, object.metadata().get(field), text)));
    };
    let base = object.meta("generateName");
    if !base.is_empty() {
        // What is put after it makes a trailing dash good.
        let filled =
            if base.len() > 1 { base.strip_suffix('-').map(|rest| format!("{rest}a")) } else { None };
        check("generateName", filled.as_deref().unwrap_or(base));
    }
    if object.name().is_empty() {
        problems.push(FieldError::required("metadata.name", "name or generateName is required"));
    } else {
        check("name", object.name());
    }
    problems
}

/// What a change may not touch.
fn changes(new: &Object, old: &Object) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if old.is_terminating() {
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
    for field in IMMUTABLE {
        let value = new.metadata().get(field);
        if value != old.metadata().get(field) {
            problems.push(FieldError::immutable(&format!("metadata.{field}"), value));
        }
    }
    problems
}

fn owner_references(object: &Object) -> Vec<FieldError> {
    let references = object.metadata().get("ownerReferences").and_then(Value::as_array);
    let references = references.map(Vec::as_slice).unwrap_or_default();
    let mut problems: Vec<_> = references.iter().enumerate().flat_map(owner_reference).collect();
    let text = |reference: &Value, field: &str| reference[field].as_str().unwrap_or_default().to_owned();
    let controllers = references.iter().filter(|reference| reference["controller"] == Value::Bool(true));
    let controllers: Vec<String> = controllers
        .map(|reference| format!("{}/{}", text(reference, "kind"), text(reference, "name")))
        .collect();
    if let [first, second, ..] = controllers.as_slice() {
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        let value = Value::from(references.to_vec());
        problems.push(FieldError::invalid("metadata.ownerReferences", Some(&value), &detail));
    }
    problems
}

fn owner_reference((index, reference): (usize, &Value)) -> Vec<FieldError> {
    let path = format!("metadata.ownerReferences[{index}]");
    let mut problems = Vec::new();
    for field in ["apiVersion", "kind", "name", "uid"] {
        if reference[field].as_str().unwrap_or_default().is_empty() {
            problems.push(FieldError::required(&format!("{path}.{field}"), "must not be empty"));
        }
    }
    let api_version = reference["apiVersion"].as_str().unwrap_or_default();
    if api_version.matches('/').count() > 1 || api_version == "/" {
        let detail = "must be <group>/<version> or <version>";
        problems.push(FieldError::invalid(
            &format!("{path}.apiVersion"),
            reference.get("apiVersion"),
            detail,
        ));
    }
    if (api_version, reference["kind"].as_str()) == ("v1", Some("Event")) {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        problems.push(FieldError::invalid(&path, Some(reference), detail));
    }
    problems
}

fn finalizers(kind: &Kind, object: &Object) -> Vec<FieldError> {
    let path = "metadata.finalizers";
    let mut problems = Vec::new();
    let present = object.finalizers();
    for name in &present {
        let found = check_qualified_name(name);
        problems.extend(found.iter().map(|text| FieldError::invalid(path, Some(&(*name).into()), text)));
    }
    if STANDARD[..2].iter().all(|name| present.contains(name)) {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        problems.push(FieldError::invalid(path, object.metadata().get("finalizers"), detail));
    }
    if kind.strategy.rules().any_finalizer {
        return problems;
    }
    for (index, name) in present.iter().enumerate() {
        if !name.contains('/') && !STANDARD.contains(name) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            let path = format!("{path}[{index}]");
            problems.push(FieldError::invalid(&path, Some(&(*name).into()), detail));
        }
    }
    problems
}

/// Fields that a client may repeat or leave out. Others than those that are stored are an error.
pub(super) const IMMUTABLE: &[&str] = &["uid", "deletionTimestamp", "deletionGracePeriodSeconds"];

/// Source: core `helper.IsStandardFinalizerName`.
const STANDARD: &[&str] = &["orphan", "foregroundDeletion", "kubernetes"];

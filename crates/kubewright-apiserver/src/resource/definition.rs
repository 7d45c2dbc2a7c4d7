//! `CustomResourceDefinition`s: their names are accepted, they are served, and their objects go with them.
//!
//! In Kubernetes these are controllers of the API server. Here each step runs within the request that makes it
//! necessary, so that a definition is served when its create has been answered.
//!
//! # Differences from Go
//! Nothing waits: the real server delays creates in the first two seconds of a definition.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{delete, update};
use crate::{
    clock::rfc3339,
    kind::{CustomDefinition, Kind, definition_name},
    object::Object,
    server::Shared,
    storage::Key,
};

/// Where definitions are kept.
pub(super) const PREFIX: &str = "apiextensions.k8s.io/customresourcedefinitions";

const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// A definition was written: accept its names and serve it, or clear up after it.
pub(super) fn stored(shared: &Shared, kind: &Kind, new: &Object, old: Option<&Object>) {
    if new.is_terminating() {
        if old.is_none_or(|old| !old.is_terminating()) {
            delete_instances(shared, kind, new);
        }
        return;
    }
    let is_same = old.is_some_and(|old| old.0.get("spec") == new.0.get("spec"));
    let is_served = !shared.kinds.current().custom(new.name()).is_empty();
    if name_conflict(shared, new).is_none() && !(is_same && is_served) {
        // First served, then declared to be: whoever waits for the condition finds the path.
        shared.kinds.set_custom(new.name(), CustomDefinition(new).kinds());
    }
    change(shared, kind, new.name(), |object| establish(shared, object));
}

/// The first deletion of a definition: its objects have to go first.
///
/// Source: apiextensions `registry/customresourcedefinition.REST.Delete`.
pub(super) fn mark_terminating(object: &mut Object, now: Timestamp) {
    let mut finalizers: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
    if !finalizers.iter().any(|name| name == CLEANUP) {
        finalizers.push(CLEANUP.to_owned());
    }
    object.set_finalizers(&finalizers);
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set_condition(object, now, "Terminating", "True", "InstanceDeletionPending", message);
}

/// An object of a custom kind was removed: perhaps it was the last one that a deletion has waited for.
pub(super) fn instance_removed(shared: &Shared, kind: &Kind) {
    let name = definition_name(&kind.plural, &kind.group);
    let Some(document) = shared.store.get(PREFIX, &Key::new("", &name)) else { return };
    let object = Object::decode(&document);
    let registry = shared.kinds.current();
    if object.is_terminating()
        && let Some(definition_kind) =
            registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    {
        finish_if_empty(shared, definition_kind, &object);
    }
}

fn delete_instances(shared: &Shared, kind: &Kind, object: &Object) {
    let registry = shared.kinds.current();
    if let [instances, ..] = registry.custom(object.name()) {
        for (key, _) in shared.store.snapshot(&instances.prefix).range("", "") {
            let name = key.as_str().rsplit('/').next().unwrap_or_default();
            // What is gone already needs no deletion, and what has finalizers waits for them.
            let _ = delete::delete_object(shared, instances, key, name, &delete::in_background());
        }
    }
    finish_if_empty(shared, kind, object);
}

fn finish_if_empty(shared: &Shared, kind: &Kind, object: &Object) {
    // A definition whose names were not accepted has no objects, though others may under the same path.
    if let [instances, ..] = shared.kinds.current().custom(object.name())
        && shared.store.snapshot(&instances.prefix).range("", "").next().is_some()
    {
        return;
    }
    change(shared, kind, object.name(), |object| {
        let others: Vec<String> =
            object.finalizers().into_iter().filter(|name| *name != CLEANUP).map(str::to_owned).collect();
        object.set_finalizers(&others);
        let message = "removed all instances";
        set_condition(
            object,
            shared.clock.now(),
            "Terminating",
            "False",
            "InstanceDeletionCompleted",
            message,
        );
    });
}

/// Changes a definition on the server's own behalf, however often others are faster.
fn change(shared: &Shared, kind: &Kind, name: &str, change: impl Fn(&mut Object)) {
    let key = Key::new("", name);
    while let Some(current) = shared.store.get(PREFIX, &key) {
        let mut new = Object::decode(&current);
        change(&mut new);
        let draft = new.encode();
        let result = if update::is_released(kind, &new) {
            shared.store.remove(&kind.prefix, &key, current.revision()).map(|_| {
                shared.kinds.set_custom(name, Vec::new());
            })
        } else {
            shared.store.replace(&kind.prefix, &key, current.revision(), &draft).map(|_| ())
        };
        if result.is_ok() {
            return;
        }
    }
}

/// Accepts the names of a definition, unless others have them, and declares it established.
///
/// Source: apiextensions `controller/status.NamingConditionController`, `controller/establish`.
fn establish(shared: &Shared, object: &mut Object) {
    let now = shared.clock.now();
    let conflict = name_conflict(shared, object);
    match &conflict {
        None => set_condition(object, now, "NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        Some((reason, message)) => set_condition(object, now, "NamesAccepted", "False", reason, message),
    }
    if conflict.is_none() {
        let names = object.at("/spec/names").cloned().unwrap_or_default();
        object.section("status").insert("acceptedNames".into(), names);
        let message = "the initial names have been accepted";
        set_condition(object, now, "Established", "True", "InitialNamesAccepted", message);
    } else if condition(object, "Established").is_none() {
        let message = "not all names are accepted";
        set_condition(object, now, "Established", "False", "NotAccepted", message);
    }
    let version = CustomDefinition(object).storage_version().to_owned();
    let status = object.section("status");
    let stored = status.entry("storedVersions").or_insert_with(|| json!([]));
    if let Some(stored) = stored.as_array_mut()
        && !stored.iter().any(|known| *known == version)
    {
        stored.push(version.into());
    }
}

/// The first name that another definition of the group has, as reason and message.
fn name_conflict(shared: &Shared, object: &Object) -> Option<(&'static str, String)> {
    let registry = shared.kinds.current();
    let group = object.str_at("/spec/group");
    let others: Vec<_> = registry
        .all()
        .filter(|(definition, kind)| *definition != Some(object.name()) && kind.group == group)
        .map(|(_, kind)| kind)
        .collect();
    let takes_resource = |name: &str| {
        others.iter().any(|kind| {
            kind.plural == name || kind.singular == name || kind.short_names.iter().any(|short| short == name)
        })
    };
    let takes_kind = |name: &str| others.iter().any(|kind| kind.kind == name || kind.list_kind == name);
    let name = |field: &str| object.str_at(&format!("/spec/names/{field}"));
    let short_names = object.at("/spec/names/shortNames").and_then(Value::as_array);
    let mut short_names = short_names.into_iter().flatten().filter_map(Value::as_str);
    let found = if takes_resource(name("plural")) {
        ("PluralConflict", name("plural"))
    } else if takes_resource(name("singular")) {
        ("SingularConflict", name("singular"))
    } else if let Some(short) = short_names.find(|short| takes_resource(short)) {
        ("ShortNamesConflict", short)
    } else if takes_kind(name("kind")) {
        ("KindConflict", name("kind"))
    } else if takes_kind(name("listKind")) {
        ("ListKindConflict", name("listKind"))
    } else {
        return None;
    };
    Some((found.0, format!("{:?} is already in use", found.1)))
}

fn condition<'a>(object: &'a Object, kind: &str) -> Option<&'a str> {
    let conditions = object.at("/status/conditions").and_then(Value::as_array)?;
    conditions.iter().find(|condition| condition["type"] == kind)?["status"].as_str()
}

/// Sets a condition; its transition time changes only with its status.
fn set_condition(object: &mut Object, now: Timestamp, kind: &str, status: &str, reason: &str, message: &str) {
    let conditions = object.section("status").entry("conditions").or_insert_with(|| json!([]));
    let Some(conditions) = conditions.as_array_mut() else { return };
    let mut new = json!({
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": rfc3339(now),
    });
    match conditions.iter_mut().find(|condition| condition["type"] == kind) {
        Some(present) => {
            if present["status"] == status {
                new["lastTransitionTime"] = present["lastTransitionTime"].take();
            }
            *present = new;
        }
        None => conditions.push(new),
    }
}

//! `CustomResourceDefinition`s: their names are accepted, they are served, and their objects go with them.
//!
//! In Kubernetes these are controllers of the API server. Here the request that writes or removes a definition does
//! what is to be done before it is answered: for all definitions, from what the store says, so that it does not
//! matter who wrote what in which order. A definition whose names were taken gets them when the other one goes.
//!
//! # Differences from Go
//! Nothing waits: the real server delays creates in the first two seconds of a definition.

use parking_lot::Mutex;

use super::{cluster::Cluster, delete, update};
use crate::{
    kind::{CLEANUP, CustomDefinition, DEFINITIONS, definition_name, set_condition},
    object::Object,
    storage::Key,
    value::{Value, json},
};

/// Held by the request that settles definitions: two of them must not get the same name.
#[derive(Debug, Default)]
pub(super) struct Settling(Mutex<()>);

/// A definition was written or removed: does everything that follows from it.
pub(super) fn changed(cluster: &Cluster) {
    delete_instances(cluster);
    settle(cluster);
}

/// An object of a custom kind was removed: perhaps it was the last one that a deletion has waited for.
pub(super) fn instance_removed(cluster: &Cluster, group: &str, plural: &str) {
    let served = cluster.served();
    if served.definition(&definition_name(plural, group)).is_some_and(|defined| defined.terminating) {
        settle(cluster);
    }
}

/// Asks the objects of definitions that are being deleted to go.
fn delete_instances(cluster: &Cluster) {
    let served = cluster.served();
    let ending = served.definitions().filter(|(_, defined)| defined.terminating && !defined.settled);
    for instances in ending.filter_map(|(_, defined)| defined.kinds.first()) {
        for (key, _) in cluster.store.snapshot(&instances.prefix).range("", "") {
            // What is gone already needs no deletion, and what has finalizers waits for them.
            let _ = delete::delete_object(cluster, instances, key, key.name(), &delete::in_background());
        }
    }
}

/// Brings every definition to where it belongs: names accepted or refused, established, or gone.
fn settle(cluster: &Cluster) {
    let _one_at_a_time = cluster.settling.0.lock();
    while settle_one(cluster) {}
}

/// Takes one step with one definition. False when there is nothing left to do.
fn settle_one(cluster: &Cluster) -> bool {
    let served = cluster.served();
    let Some(kind) = served.find("apiextensions.k8s.io", "v1", "customresourcedefinitions") else {
        return false;
    };
    for (name, defined) in served.definitions().filter(|(_, defined)| !defined.settled) {
        let is_held = |kind: &crate::kind::Kind| !cluster.store.snapshot(&kind.prefix).objects.is_empty();
        if defined.terminating && defined.kinds.first().is_some_and(|kind| is_held(kind)) {
            continue;
        }
        let key = Key::new("", name);
        let Some(current) = cluster.store.get(DEFINITIONS, &key) else { return true };
        let Ok(old) = Object::decode(&current) else { continue };
        let mut new = old.clone();
        if old.is_terminating() {
            finish(cluster, &mut new);
        } else {
            establish(cluster, &mut new);
        }
        if new == old {
            continue;
        }
        // Somebody else may have been faster. Then the next step reads what he has written.
        if update::is_released(kind, &new) {
            let _ = cluster.store.remove(&kind.prefix, &key, current.revision());
        } else if let Ok(draft) = new.encode() {
            let _ = cluster.store.replace(&kind.prefix, &key, current.revision(), &draft);
        } else {
            continue;
        }
        return true;
    }
    false
}

/// The objects of the definition are gone.
fn finish(cluster: &Cluster, object: &mut Object) {
    let others: Vec<String> =
        object.finalizers().into_iter().filter(|name| *name != CLEANUP).map(str::to_owned).collect();
    object.set_finalizers(&others);
    let message = "removed all instances";
    set_condition(object, cluster.clock.now(), "Terminating", "False", "InstanceDeletionCompleted", message);
}

/// Accepts the names of a definition, unless others have them, and declares it established.
///
/// Source: apiextensions `controller/status.NamingConditionController`, `controller/establish`.
fn establish(cluster: &Cluster, object: &mut Object) {
    let now = cluster.clock.now();
    let conflict = name_conflict(cluster, object);
    match &conflict {
        None => set_condition(object, now, "NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        Some((reason, message)) => set_condition(object, now, "NamesAccepted", "False", reason, message),
    }
    if conflict.is_none() {
        let names = object.at("/spec/names").cloned().unwrap_or_default();
        object.section("status").insert("acceptedNames".into(), names);
        let message = "the initial names have been accepted";
        set_condition(object, now, "Established", "True", "InitialNamesAccepted", message);
    } else if CustomDefinition(object).condition("Established").is_none() {
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
fn name_conflict(cluster: &Cluster, object: &Object) -> Option<(&'static str, String)> {
    let served = cluster.served();
    let group = object.str_at("/spec/group");
    let others: Vec<_> = served
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

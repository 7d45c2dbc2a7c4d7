//! `CustomResourceDefinition`s: their objects go first.

use jiff::Timestamp;

use crate::{
    clock::rfc3339,
    kind::{
        custom::CLEANUP,
        rules::Rules,
        strategy::{Consequence, Strategy},
    },
    object::Object,
    value::{Value, json},
};

/// Definitions.
#[derive(Debug)]
pub(in crate::kind) struct Definitions(pub(in crate::kind) Rules);

impl Strategy for Definitions {
    fn rules(&self) -> &Rules {
        &self.0
    }

    /// Its status says nothing before names are accepted.
    fn prepare_for_create(&self, object: &mut Object) {
        object.put("status", None);
    }

    /// Source: apiextensions `registry/customresourcedefinition.REST.Delete`.
    fn prepare_for_delete(&self, object: &mut Object, old: &Object, now: Timestamp) {
        if old.is_terminating() {
            return;
        }
        let mut finalizers: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
        if !finalizers.iter().any(|name| name == CLEANUP) {
            finalizers.push(CLEANUP.to_owned());
        }
        object.set_finalizers(&finalizers);
        let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
        set_condition(object, now, "Terminating", "True", "InstanceDeletionPending", message);
    }

    fn consequence(&self) -> Consequence {
        Consequence::Settle
    }
}

/// Sets a condition; its transition time changes only with its status.
pub(crate) fn set_condition(
    object: &mut Object,
    now: Timestamp,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
) {
    let conditions = object.section("status").entry("conditions").or_insert(Value::Null);
    if conditions.is_null() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    let mut new = json!({
        "type": kind, "status": status, "lastTransitionTime": rfc3339(now),
    });
    for (field, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            new[field] = text.into();
        }
    }
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

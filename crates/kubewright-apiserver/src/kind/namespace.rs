//! Namespaces: they go once they are empty, and some never do.

use jiff::Timestamp;

use super::{
    rules::{Part, Rules},
    strategy::{Consequence, Strategy},
};
use crate::{object::Object, value::Value};

/// Namespaces.
#[derive(Debug)]
pub(super) struct Namespaces(pub(super) Rules);

impl Strategy for Namespaces {
    fn rules(&self) -> &Rules {
        &self.0
    }

    fn is_of_namespaces(&self) -> bool {
        true
    }

    /// Only `finalize` changes what the namespace waits for.
    ///
    /// Source: registry `namespace.namespaceStrategy.PrepareForUpdate`.
    fn prepare_for_update(&self, new: &mut Object, old: &Object, part: Part) {
        if part != Part::Finalize {
            let spec = new.section("spec");
            match old.at("/spec/finalizers").cloned() {
                Some(finalizers) => spec.insert("finalizers".into(), finalizers),
                None => spec.remove("finalizers"),
            };
        }
    }

    /// Source: apiserver `admission/plugin/namespace/lifecycle`.
    fn refuses_deletion(&self, name: &str) -> Option<&'static str> {
        IMMORTAL.contains(&name).then_some("this namespace may not be deleted")
    }

    fn grace_period(&self, _: &Object, _: Option<i64>) -> Option<i64> {
        None
    }

    fn prepare_for_delete(&self, new: &mut Object, _: &Object, _: Timestamp) {
        new.section("status").insert("phase".into(), "Terminating".into());
    }

    /// Its content has to go first.
    fn is_held(&self, namespace: &Object) -> bool {
        namespace.at("/spec/finalizers").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
    }

    fn consequence(&self) -> Consequence {
        Consequence::Restore
    }
}

/// Namespaces that cannot be deleted.
const IMMORTAL: &[&str] = &["default", "kube-public", "kube-system"];

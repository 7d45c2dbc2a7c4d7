//! The webhooks that are configured at this moment.

use std::sync::Arc;

use super::hook::Hook;
use crate::{
    kind::Kinds,
    object::Object,
    storage::{Derived, Snapshot, Store},
    webhook::Caller,
};

/// The webhooks that are configured, and what it takes to ask them. They are read off the store, and never told.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(super) store: Store,
    pub(super) kinds: Arc<Kinds>,
    pub(super) caller: Arc<Caller>,
    mutating: Derived<Arc<[Hook]>>,
    validating: Derived<Arc<[Hook]>>,
}

impl Admission {
    pub(crate) fn new(store: Store, kinds: Arc<Kinds>, caller: Arc<Caller>) -> Self {
        let (mutating, validating) = Default::default();
        Self { store, kinds, caller, mutating, validating }
    }

    /// Whether there is any webhook.
    pub(crate) fn is_any(&self) -> bool {
        !self.mutating().is_empty() || !self.validating().is_empty()
    }

    /// The mutating webhooks, in the order in which they are called.
    pub(super) fn mutating(&self) -> Arc<[Hook]> {
        caught_up(&self.mutating, &self.store, MUTATING)
    }

    pub(super) fn validating(&self) -> Arc<[Hook]> {
        caught_up(&self.validating, &self.store, VALIDATING)
    }
}

/// The webhooks of all configurations under a prefix. Configurations come by name, and the webhooks of each as it lists them.
///
/// Source: apiserver `admission/configuration.mutatingWebhookConfigurationManager`.
fn caught_up(hooks: &Derived<Arc<[Hook]>>, store: &Store, prefix: &str) -> Arc<[Hook]> {
    let read = |_: &Arc<[Hook]>, snapshot: &Snapshot| {
        // The map is in the order of the names. What cannot be read was not written by this server.
        let configurations = snapshot.objects.values().filter_map(|stored| Object::decode(stored).ok());
        configurations.flat_map(|configuration| Hook::read_all(&configuration)).collect()
    };
    hooks.caught_up(store, prefix, read, |_, _| ())
}

const MUTATING: &str = "admissionregistration.k8s.io/mutatingwebhookconfigurations";
const VALIDATING: &str = "admissionregistration.k8s.io/validatingwebhookconfigurations";

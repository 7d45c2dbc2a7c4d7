//! The webhooks that are configured at this moment.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::hook::Hook;
use crate::{object::Object, storage::Store};

/// The webhooks that are configured. They are read off the store, and never told.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    mutating: Kept,
    validating: Kept,
}

/// Those of one kind of configurations, as of one revision of the store.
#[derive(Debug, Default)]
struct Kept {
    hooks: RwLock<(u64, Arc<[Hook]>)>,
    /// Held by the one that reads the store.
    catching_up: Mutex<()>,
}

impl Hooks {
    /// The mutating webhooks, in the order in which they are called.
    pub(super) fn mutating(&self, store: &Store) -> Arc<[Hook]> {
        self.mutating.caught_up(store, MUTATING)
    }

    /// Whether there is any.
    pub(crate) fn is_any(&self, store: &Store) -> bool {
        !self.mutating(store).is_empty() || !self.validating(store).is_empty()
    }

    pub(super) fn validating(&self, store: &Store) -> Arc<[Hook]> {
        self.validating.caught_up(store, VALIDATING)
    }
}

impl Kept {
    /// Configurations come by name, and the webhooks of each as it lists them.
    ///
    /// Source: apiserver `admission/configuration.mutatingWebhookConfigurationManager`.
    fn caught_up(&self, store: &Store, prefix: &str) -> Arc<[Hook]> {
        let newest = store.last_change(prefix);
        let known = || {
            let hooks = self.hooks.read();
            (hooks.0 >= newest).then(|| hooks.1.clone())
        };
        if let Some(hooks) = known() {
            return hooks;
        }
        let _one_at_a_time = self.catching_up.lock();
        if let Some(hooks) = known() {
            return hooks;
        }
        let snapshot = store.snapshot(prefix);
        // The map is in the order of the names. What cannot be read was not written by this server.
        let configurations = snapshot.objects.values().filter_map(|stored| Object::decode(stored).ok());
        let hooks: Arc<[Hook]> =
            configurations.flat_map(|configuration| Hook::read_all(&configuration)).collect();
        *self.hooks.write() = (snapshot.revision, hooks.clone());
        hooks
    }
}

const MUTATING: &str = "admissionregistration.k8s.io/mutatingwebhookconfigurations";
const VALIDATING: &str = "admissionregistration.k8s.io/validatingwebhookconfigurations";

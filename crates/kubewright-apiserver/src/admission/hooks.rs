//! The webhooks that are configured at this moment.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::{
    hook::Hook,
    services::{ServiceRoute, Services},
};
use crate::{identity::Identity, kind::Kinds, object::Object, storage::Store};

/// The webhooks that are configured, and what it takes to ask them. They are read off the store, and never told.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(super) store: Store,
    pub(super) kinds: Arc<Kinds>,
    pub(super) identity: Arc<Identity>,
    pub(super) services: Services,
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

impl Admission {
    pub(crate) fn new(store: Store, kinds: Arc<Kinds>, identity: Arc<Identity>) -> Self {
        let (services, mutating, validating) = Default::default();
        Self { store, kinds, identity, services, mutating, validating }
    }

    /// Says where the webhooks behind a Service are.
    pub(crate) fn route_service(&self, namespace: &str, name: &str, route: ServiceRoute) {
        self.services.insert(namespace, name, route);
    }

    /// Whether there is any webhook.
    pub(crate) fn is_any(&self) -> bool {
        !self.mutating().is_empty() || !self.validating().is_empty()
    }

    /// The mutating webhooks, in the order in which they are called.
    pub(super) fn mutating(&self) -> Arc<[Hook]> {
        self.mutating.caught_up(&self.store, MUTATING)
    }

    pub(super) fn validating(&self) -> Arc<[Hook]> {
        self.validating.caught_up(&self.store, VALIDATING)
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

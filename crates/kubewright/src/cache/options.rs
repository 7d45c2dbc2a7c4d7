//! How a cache behaves, and what a list asks of it.

use std::time::Duration;

use kube::core::Selector;

use crate::metrics::Registry;

/// How a [`Cache`](super::Cache) behaves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CacheOptions {
    /// How many bytes of decoded objects each informer keeps, beside the packed ones that it always has.
    ///
    /// Default: 64 MiB. 0 keeps none: every read decodes. `usize::MAX` makes a typed cache.
    pub decoded_bytes: usize,

    /// Whether `metadata.managedFields` stays in cached objects.
    ///
    /// Default: `false`. It is 40 % of a typical object, and few controllers read it.
    pub keep_managed_fields: bool,

    /// How long a read or a source waits for the first list of its kind.
    ///
    /// Default: 2 min. Source: controller-runtime `controller.Options.CacheSyncTimeout`.
    pub sync_timeout: Duration,

    /// How long an informer stays after its last read, if nobody watches through it.
    ///
    /// Default: 1 h, so that a reconciler that looks each half hour does not list the kind anew each time. `Duration::MAX`: as long as the cache.
    /// Less than a minute is a minute.
    pub unread_informers_stay: Duration,

    /// Where the cache is measured.
    ///
    /// Default: `None`, which means the manager's registry, or the process-wide [`metrics::registry`](crate::metrics::registry) without a
    /// manager.
    pub metrics_registry: Option<Registry>,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            decoded_bytes: 64 << 20,
            keep_managed_fields: false,
            sync_timeout: Duration::from_secs(120),
            unread_informers_stay: Duration::from_secs(3600),
            metrics_registry: None,
        }
    }
}

/// Which objects a list gives.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Objects of one namespace; `None`: of all.
    pub namespace: Option<String>,
    /// Objects whose labels match; `None`: all.
    pub label_selector: Option<Selector>,
}

impl ListOptions {
    /// Objects of one namespace; of all, if it is empty.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into()).filter(|namespace| !namespace.is_empty());
        self
    }

    /// Objects whose labels match `selector`; with an earlier selector, objects that match both.
    #[must_use]
    pub fn matching(mut self, selector: impl Into<Selector>) -> Self {
        let selector = selector.into();
        match &mut self.label_selector {
            Some(earlier) => {
                earlier.extend(selector);
            }
            None => self.label_selector = Some(selector),
        }
        self
    }
}

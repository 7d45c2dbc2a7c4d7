//! The state of an object that subscribers are told of.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::cache::store::Entry;

/// A state of an object in a change. All subscribers who hear of the change share it, and with it the metadata, which the first of them decodes.
///
/// The metadata goes with the change: the store, which outlives it, pays nothing for it.
#[derive(Debug)]
pub(crate) struct Told {
    entry: Arc<Entry>,
    metadata: OnceLock<Box<ObjectMeta>>,
}

impl Told {
    pub(crate) fn new(entry: Arc<Entry>) -> Arc<Self> {
        Arc::new(Self { entry, metadata: OnceLock::new() })
    }

    /// The metadata; of metadata that does not decode, what the header says.
    pub(crate) fn metadata(&self) -> &ObjectMeta {
        self.metadata.get_or_init(|| {
            let metadata = self.entry.metadata().unwrap_or_else(|error| {
                tracing::warn!(%error, cause = %error.source, "metadata does not decode");
                self.entry.known_metadata()
            });
            Box::new(metadata)
        })
    }
}

impl Deref for Told {
    type Target = Arc<Entry>;

    fn deref(&self) -> &Arc<Entry> {
        &self.entry
    }
}

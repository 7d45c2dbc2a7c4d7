//! An object as an event carries it: not decoded until somebody looks.

use std::{fmt, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

use crate::{
    cache::{DecodeError, informer::Told},
    object::{ObjectKey, View},
};

/// An object that somebody saw: a `K`, not decoded until it is looked at.
///
/// What the cache knows without decoding (key, uid, version, generation, labels) is free; [`metadata`](Self::metadata) decodes the
/// metadata alone, once for each change, whoever asks, and however many sources hear of it; [`get`](Self::get) decodes the object, or shares what the cache has decoded before.
pub struct Observed<K> {
    origin: Origin<K>,
}

/// Stands for objects of any kind, in predicates that look at no more than metadata.
#[derive(Debug)]
pub enum AnyObject {}

enum Origin<K> {
    Cached(Arc<Told>),
    Given {
        value: Arc<K>,
        known: Arc<Known>,
    },
    /// `Given`, after its type was given up.
    Known(Arc<Known>),
}

/// What is known of an object that was given, whatever its type.
struct Known {
    key: ObjectKey,
    metadata: ObjectMeta,
}

impl<K> Observed<K> {
    pub(crate) fn cached(told: Arc<Told>) -> Self {
        Self { origin: Origin::Cached(told) }
    }

    /// The namespace and name.
    pub fn key(&self) -> &ObjectKey {
        match &self.origin {
            Origin::Cached(entry) => entry.key(),
            Origin::Given { known, .. } | Origin::Known(known) => &known.key,
        }
    }

    /// The uid; empty for an object that no API server has seen.
    pub fn uid(&self) -> String {
        match &self.origin {
            Origin::Cached(entry) => entry.uid().to_string(),
            _ => self.metadata().uid.clone().unwrap_or_default(),
        }
    }

    /// The version; `None` for an object that no API server has seen.
    pub fn resource_version(&self) -> Option<u64> {
        match &self.origin {
            Origin::Cached(entry) => Some(entry.resource_version()),
            _ => self.metadata().resource_version.as_ref()?.parse().ok(),
        }
    }

    /// The generation; `None` for kinds without one.
    pub fn generation(&self) -> Option<i64> {
        match &self.origin {
            Origin::Cached(entry) => entry.generation(),
            _ => self.metadata().generation,
        }
    }

    /// The labels.
    pub fn labels(&self) -> &std::collections::BTreeMap<String, String> {
        match &self.origin {
            Origin::Cached(entry) => entry.labels(),
            _ => self.metadata().labels.as_ref().unwrap_or(NO_LABELS),
        }
    }

    /// The metadata, without `managedFields` unless the cache keeps them. Of metadata that does not decode, what the cache knows.
    pub fn metadata(&self) -> &ObjectMeta {
        match &self.origin {
            Origin::Cached(told) => told.metadata(),
            Origin::Given { known, .. } | Origin::Known(known) => &known.metadata,
        }
    }

    /// The same object, for those who look at no more than metadata.
    pub fn any(&self) -> Observed<AnyObject> {
        let origin = match &self.origin {
            Origin::Cached(told) => Origin::Cached(Arc::clone(told)),
            Origin::Given { known, .. } | Origin::Known(known) => Origin::Known(Arc::clone(known)),
        };
        Observed { origin }
    }
}

impl<K: View> Observed<K> {
    /// The object.
    ///
    /// # Errors
    /// If what the API server sent does not decode as a `K`.
    pub fn get(&self) -> Result<Arc<K>, DecodeError> {
        match &self.origin {
            Origin::Cached(entry) => entry.decode(),
            Origin::Given { value, .. } => Ok(Arc::clone(value)),
            Origin::Known(_) => {
                unreachable!("only an `Observed<AnyObject>` is `Known`, and `AnyObject` is no `View`")
            }
        }
    }
}

impl<K: Resource> From<Arc<K>> for Observed<K> {
    /// An object that was not seen by a cache: from a channel, or made by a test.
    fn from(value: Arc<K>) -> Self {
        let known = Arc::new(Known { key: ObjectKey::of(&*value), metadata: value.meta().clone() });
        Self { origin: Origin::Given { value, known } }
    }
}

impl<K: Resource> From<K> for Observed<K> {
    fn from(value: K) -> Self {
        Arc::new(value).into()
    }
}

impl<K> fmt::Debug for Observed<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").field("key", self.key()).finish_non_exhaustive()
    }
}

const NO_LABELS: &std::collections::BTreeMap<String, String> = &std::collections::BTreeMap::new();

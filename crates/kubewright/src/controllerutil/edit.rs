//! One object, read to be changed.

use std::sync::Arc;

use kube::Resource;
use serde::Serialize;
use serde_json::Value;

use super::{
    difference::{Difference, graft},
    metadata, typed,
};
use crate::{
    cache::{CacheError, store::Entry},
    client::{ClientError, Objects},
    object::{Kind, ObjectKey, View},
};

/// An object as it was read: as its type, and as the document that the API server sent.
pub(crate) struct Original<K> {
    pub(crate) object: Arc<K>,
    source: Source,
}

enum Source {
    Cached(Arc<Entry>),
    Live(Value),
}

impl<K: View + Resource + Serialize> Original<K> {
    pub(crate) async fn cached(objects: &Objects<'_, K>, key: &ObjectKey) -> Result<Self, ClientError> {
        let entry = objects.entry(key).await?;
        let object = entry.decode().map_err(CacheError::from)?;
        Ok(Self { object, source: Source::Cached(entry) })
    }

    pub(super) async fn live(objects: &Objects<'_, K>, key: &ObjectKey) -> Result<Self, ClientError> {
        let (document, object) = objects.client().live().get_document(objects.kind(), key).await?;
        Ok(Self { object: Arc::new(object), source: Source::Live(document) })
    }

    pub(super) fn uid(&self) -> Option<&str> {
        self.object.meta().uid.as_deref()
    }

    /// What `edited` changes of the object; `None` if nothing.
    pub(crate) fn difference(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        edited: &K,
    ) -> Result<Option<Difference>, ClientError> {
        let encoded = typed::pair(&*self.object, edited);
        let (before, mut after) =
            encoded.map_err(|source| ClientError::Encode { kind: kind.clone(), key: key.clone(), source })?;
        metadata::keep(&before, &mut after);
        if before == after {
            return Ok(None);
        }
        let read = match &self.source {
            Source::Cached(entry) => entry.document().map_err(CacheError::from)?,
            Source::Live(document) => document.clone(),
        };
        let wanted = graft(&read, &before, &after);
        Ok((read != wanted).then_some(Difference { read, wanted }))
    }
}

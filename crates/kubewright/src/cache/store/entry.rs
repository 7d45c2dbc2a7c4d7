//! One object as the cache holds it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use super::{
    decoded::{Budget, Decoded},
    header::Header,
    interner::{Interner, Labels},
    packing::Packed,
    uid::Uid,
};
use crate::object::{ObjectKey, View};

/// An object of the cache: its header, its packed bytes, and the decoded value while that is kept. Never changes; an update makes
/// another entry, so an `Arc<Entry>` is a consistent state for as long as somebody needs it.
#[derive(Debug)]
pub(crate) struct Entry {
    key: ObjectKey,
    uid: Uid,
    resource_version: u64,
    generation: Option<i64>,
    labels: Labels,
    packed: Packed,
    decoded: Decoded,
    budget: Arc<Budget>,
    /// Somebody has said that it does not decode.
    complained_of: AtomicBool,
}

/// An object of the cache does not decode as the type that was asked for.
///
/// The cluster can mend it (the object violates the type's schema), or the author (the type is narrower than the schema). Other
/// objects are not affected.
#[derive(Debug, Clone, thiserror::Error)]
#[error("failed to decode {key} as {target}")]
#[non_exhaustive]
pub struct DecodeError {
    /// The object.
    pub key: ObjectKey,
    /// The Rust type that it should have become.
    pub target: &'static str,
    /// What the decoder says: the field and the place.
    #[source]
    pub source: Arc<serde_json::Error>,
}

impl Entry {
    /// An entry for the text `object`, whose header has been scanned; `namespace` is the header's, interned.
    pub(crate) fn new(
        object: &[u8],
        header: &Header<'_>,
        namespace: Option<Arc<str>>,
        interner: &mut Interner,
        budget: &Arc<Budget>,
        keep_managed_fields: bool,
    ) -> Self {
        let [before, after] = kept(object, header, keep_managed_fields);
        Self {
            key: ObjectKey::from_parts(namespace, header.name.as_ref().into()),
            uid: Uid::new(&header.uid),
            resource_version: header.resource_version,
            generation: header.generation,
            labels: interner.labels(header.labels),
            packed: Packed::raw([before, after]),
            decoded: Decoded::empty(),
            budget: Arc::clone(budget),
            complained_of: AtomicBool::new(false),
        }
    }

    pub(crate) fn key(&self) -> &ObjectKey {
        &self.key
    }

    pub(crate) fn uid(&self) -> &Uid {
        &self.uid
    }

    pub(crate) fn resource_version(&self) -> u64 {
        self.resource_version
    }

    pub(crate) fn generation(&self) -> Option<i64> {
        self.generation
    }

    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Whether this is a state of the object that has `uid`, and not of another one under the same name.
    pub(crate) fn is_same_object(&self, uid: &str) -> bool {
        self.uid == Uid::new(uid)
    }

    /// Whether `object`, whose header has been scanned, would be packed as this is.
    pub(crate) fn is_text(&self, object: &[u8], header: &Header<'_>, keep_managed_fields: bool) -> bool {
        let [before, after] = kept(object, header, keep_managed_fields);
        let text = self.packed.unpack();
        text.strip_prefix(before).is_some_and(|rest| rest == after)
    }

    /// The object as a `V`. The value is shared with every other reader while the informer's budget keeps it.
    pub(crate) fn decode<V: View>(&self) -> Result<Arc<V>, DecodeError> {
        if let Some(kept) = self.decoded.get() {
            return Ok(kept);
        }
        let value = Arc::new(
            serde_json::from_slice(&self.packed.unpack()).map_err(|error| self.undecodable::<V>(error))?,
        );
        self.decoded.offer(&value, self.packed.unpacked_len(), &self.budget);
        Ok(value)
    }

    /// The object as it came, with the fields that no Rust type knows. Decoded anew at each call: few ask, and a typed value is worth more of
    /// the budget.
    pub(crate) fn document(&self) -> Result<Value, DecodeError> {
        serde_json::from_slice(&self.packed.unpack()).map_err(|error| self.undecodable::<Value>(error))
    }

    /// The object's metadata; the rest of the object is not decoded.
    pub(crate) fn metadata(&self) -> Result<ObjectMeta, DecodeError> {
        let text = self.packed.unpack();
        // The same scan found `metadata` when the object arrived; an empty range would be reported by the decoder.
        let range = Header::find_metadata(&text).unwrap_or_default();
        serde_json::from_slice(&text[range]).map_err(|error| self.undecodable::<ObjectMeta>(error))
    }

    /// Whether whoever is concerned by this state is by `other`, too, as far as that is known without decoding: the same object, of the same generation,
    /// with the same labels and owners.
    pub(crate) fn concerns_the_same(&self, other: &Self) -> bool {
        self.uid == other.uid
            && self.generation == other.generation
            && self.labels == other.labels
            && Header::find_owners(&self.packed.unpack()) == Header::find_owners(&other.packed.unpack())
    }

    /// As much of the metadata as the header holds.
    pub(crate) fn known_metadata(&self) -> ObjectMeta {
        ObjectMeta {
            name: Some(self.key.name().to_owned()),
            namespace: self.key.namespace().map(ToOwned::to_owned),
            uid: Some(self.uid.to_string()),
            resource_version: Some(self.resource_version.to_string()),
            generation: self.generation,
            labels: Some(BTreeMap::clone(&self.labels)),
            ..ObjectMeta::default()
        }
    }

    /// True for the first who has to say that this state does not decode.
    pub(crate) fn is_first_complaint(&self) -> bool {
        !self.complained_of.swap(true, Ordering::Relaxed)
    }

    fn undecodable<V>(&self, error: serde_json::Error) -> DecodeError {
        DecodeError { key: self.key.clone(), target: std::any::type_name::<V>(), source: Arc::new(error) }
    }
}

/// What an entry keeps of the text of an object.
fn kept<'a>(object: &'a [u8], header: &Header<'_>, keep_managed_fields: bool) -> [&'a [u8]; 2] {
    let cut = match &header.managed_fields {
        Some(cut) if !keep_managed_fields => cut.clone(),
        _ => object.len()..object.len(),
    };
    [&object[..cut.start], &object[cut.end..]]
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn entry(object: &str, budget: usize) -> Entry {
        let header = Header::scan(object.as_bytes()).unwrap();
        let namespace = header.namespace.as_deref().map(Arc::from);
        Entry::new(object.as_bytes(), &header, namespace, &mut Interner::new(), &Budget::new(budget), false)
    }

    const OBJECT: &str = r#"{"metadata":{"name":"a","namespace":"b","resourceVersion":"1","managedFields":[{"manager":"m"}],"labels":{"x":"y"},"finalizers":["f"]},"data":{"k":"v"}}"#;

    #[test]
    fn an_entry_keeps_everything_but_managed_fields() {
        let entry = entry(OBJECT, 0);
        let decoded = entry.decode::<ConfigMap>().unwrap();
        assert_eq!(decoded.metadata.managed_fields, None);
        assert_eq!(decoded.data.as_ref().unwrap()["k"], "v");
        assert_eq!(entry.labels()["x"], "y");
        assert_eq!(entry.metadata().unwrap().finalizers.unwrap(), ["f"]);
    }

    #[test]
    fn readers_share_one_value_while_the_budget_lasts() {
        let rich = entry(OBJECT, 1 << 20);
        assert!(Arc::ptr_eq(&rich.decode::<ConfigMap>().unwrap(), &rich.decode::<ConfigMap>().unwrap()));
        let poor = entry(OBJECT, 0);
        assert!(!Arc::ptr_eq(&poor.decode::<ConfigMap>().unwrap(), &poor.decode::<ConfigMap>().unwrap()));
    }

    #[test]
    fn what_does_not_decode_says_which_object_and_why() {
        let error =
            entry(r#"{"metadata":{"name":"a","namespace":"b","resourceVersion":"1"},"data":{"k":1}}"#, 0)
                .decode::<ConfigMap>()
                .unwrap_err();
        assert!(error.to_string().starts_with("failed to decode b/a as "), "{error}");
        assert!(error.source.to_string().contains("expected a string"), "{}", error.source);
    }
}

//! From the version in which a resource is kept to the one in which it is shown, and back.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::Value;

use super::row::Kind;
use crate::{object::Object, storage::Document};

/// How what is kept differs from what is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// Not at all.
    Same,
    /// The objects are kept as `api_version` and differ in nothing else (custom resources without a webhook).
    ApiVersion { api_version: String },
    /// They are kept as `api_version` with other names for some fields, as pairs of kept and shown (Events).
    Fields { api_version: String, fields: &'static [(&'static str, &'static str)] },
}

impl Kind {
    /// Makes a client's object of this version into one to keep.
    pub(crate) fn to_storage(&self, object: &mut Object) {
        self.convert(object, |(kept, shown)| (shown, kept));
        object.0.insert("apiVersion".into(), self.storage_api_version().into());
        object.0.insert("kind".into(), self.kind.clone().into());
    }

    /// Makes a kept object into one of this version.
    pub(crate) fn from_storage(&self, object: &mut Object) {
        self.convert(object, |(kept, shown)| (kept, shown));
        object.0.insert("apiVersion".into(), self.api_version().into());
    }

    /// The bytes to show for kept bytes. Decodes only where fields have other names.
    pub(crate) fn shown(&self, document: &Document) -> Bytes {
        match &self.conversion {
            Conversion::Same => document.bytes().clone(),
            Conversion::ApiVersion { .. } => self.reheaded(document),
            Conversion::Fields { .. } => {
                let mut object = Object::decode(document);
                self.from_storage(&mut object);
                object.encode().at(document.revision()).bytes().clone()
            }
        }
    }

    /// The length of `{"apiVersion":…,"kind":…,` in what is shown.
    pub(crate) fn head_length(&self) -> usize {
        head(&self.api_version(), &self.kind).len()
    }

    fn reheaded(&self, document: &Document) -> Bytes {
        let kept = head(&self.storage_api_version(), &self.kind).len();
        let rest = &document.bytes()[kept..];
        let new = head(&self.api_version(), &self.kind);
        let mut bytes = BytesMut::with_capacity(new.len() + rest.len());
        bytes.put_slice(new.as_bytes());
        bytes.put_slice(rest);
        bytes.freeze()
    }

    fn storage_api_version(&self) -> String {
        match &self.conversion {
            Conversion::Same => self.api_version(),
            Conversion::ApiVersion { api_version } | Conversion::Fields { api_version, .. } => {
                api_version.clone()
            }
        }
    }

    fn convert(
        &self,
        object: &mut Object,
        direction: fn(&(&'static str, &'static str)) -> (&'static str, &'static str),
    ) {
        let Conversion::Fields { fields, .. } = &self.conversion else { return };
        let moved: Vec<(&str, Value)> = fields
            .iter()
            .map(direction)
            .filter_map(|(from, to)| object.0.remove(from).map(|value| (to, value)))
            .collect();
        for (field, value) in moved {
            object.0.insert(field.into(), value);
        }
    }
}

/// How the encoding of an object begins.
fn head(api_version: &str, kind: &str) -> String {
    // Neither needs escapes: both are made of the characters of DNS names.
    format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","#)
}

/// The fields of an Event, as kept (`v1`) and as `events.k8s.io/v1` shows them.
///
/// Source: `pkg/apis/events/v1/conversion.go`.
pub(super) const EVENT_FIELDS: &[(&str, &str)] = &[
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

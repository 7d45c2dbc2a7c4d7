//! From the version in which a resource is kept to the one in which it is shown, and back.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::Value;

use super::row::Kind;
use crate::object::{CodecError, Document, Object};

/// How what is kept becomes what is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// Nothing but the version differs, and mostly not even that.
    Version,
    /// Some fields have other names, as pairs of kept and shown (Events).
    Fields(&'static [(&'static str, &'static str)]),
}

impl Kind {
    /// Makes a client's object of this version into one to keep.
    pub(crate) fn to_storage(&self, object: &mut Object) {
        self.convert(object, |(kept, shown)| (shown, kept));
        object.0.insert("apiVersion".into(), self.kept_as.clone().into());
        object.0.insert("kind".into(), self.kind.clone().into());
    }

    /// Makes a kept object into one of this version.
    pub(crate) fn to_shown(&self, object: &mut Object) {
        self.convert(object, |(kept, shown)| (kept, shown));
        object.0.insert("apiVersion".into(), self.api_version().into());
    }

    /// A kept object with the fields of this version. Decodes only where fields have other names.
    ///
    /// # Errors
    /// [`CodecError`] when it has to be decoded and cannot.
    pub(crate) fn converted(&self, document: &Document) -> Result<Document, CodecError> {
        match &self.conversion {
            Conversion::Version => Ok(document.clone()),
            Conversion::Fields(_) => {
                let mut object = Object::decode(document)?;
                self.to_shown(&mut object);
                Ok(object.encode()?.at(document.revision()))
            }
        }
    }

    /// The bytes to show for a kept object.
    ///
    /// They are the kept ones unless those say another version. Objects that were written before a definition
    /// changed its storage version say the old one.
    ///
    /// # Errors
    /// As [`converted`](Self::converted).
    pub(crate) fn shown(&self, document: &Document) -> Result<Bytes, CodecError> {
        let converted = self.converted(document)?;
        // Neither needs escapes: both are made of the characters of DNS names.
        let head = format!(r#"{{"apiVersion":"{}","kind":"{}","#, self.api_version(), self.kind);
        if converted.bytes().starts_with(head.as_bytes()) {
            return Ok(converted.bytes().clone());
        }
        let mut bytes = BytesMut::with_capacity(head.len() + converted.tail().len());
        bytes.put_slice(head.as_bytes());
        bytes.put_slice(converted.tail());
        Ok(bytes.freeze())
    }

    fn convert(
        &self,
        object: &mut Object,
        direction: fn(&(&'static str, &'static str)) -> (&'static str, &'static str),
    ) {
        let Conversion::Fields(fields) = &self.conversion else { return };
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

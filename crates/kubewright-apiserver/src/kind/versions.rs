//! From the version in which a resource is kept to the one in which it is shown, and back.

use bytes::{BufMut, Bytes, BytesMut};

use super::row::Kind;
use crate::{
    error::Status,
    object::{Document, Draft, Object},
};

impl Kind {
    /// An object of any version of the resource, at another one.
    ///
    /// # Errors
    /// What the converter says.
    pub(crate) async fn convert(&self, object: Object, api_version: &str) -> Result<Object, Status> {
        let converted = self.converter.convert(vec![object], api_version).await?;
        converted.into_iter().next().ok_or_else(|| Status::internal_error("the converter has lost an object"))
    }

    /// A kept object at this version, to be changed or judged.
    ///
    /// # Errors
    /// 500 if it cannot be decoded; what the converter says.
    pub(crate) async fn read(&self, document: &Document) -> Result<Object, Status> {
        let mut object = self.convert(Object::decode(document)?, &self.api_version()).await?;
        if !self.strategy.is_up_to_date(document.revision()) {
            self.bring_up_to_date(&mut object);
        }
        Ok(object)
    }

    /// An object of this version as it is kept.
    ///
    /// # Errors
    /// 400 if it is nested too deep; what the converter says.
    pub(crate) async fn keep(&self, object: Object) -> Result<Draft, Status> {
        let mut kept = self.convert(object, &self.kept_as).await?;
        kept.0.insert("kind".into(), self.kind.clone().into());
        self.strategy.prepare_for_storage(&mut kept);
        Ok(kept.encode()?)
    }

    /// Kept objects at this version, all at once, as they would be stored today. Nothing is decoded that is so already,
    /// where versions differ in name alone.
    ///
    /// # Errors
    /// As [`read`](Self::read). One that fails fails all.
    pub(crate) async fn show_all(&self, documents: Vec<Document>) -> Result<Vec<Document>, Status> {
        if documents.is_empty() {
            return Ok(documents);
        }
        if self.converter.is_by_name() {
            return documents.into_iter().map(|document| self.refreshed(document)).collect();
        }
        let objects = documents.iter().map(Object::decode).collect::<Result<Vec<_>, _>>()?;
        let converted = self.converter.convert(objects, &self.api_version()).await?;
        if converted.len() != documents.len() {
            return Err(Status::internal_error("the converter has lost an object"));
        }
        let shown = documents.iter().zip(converted).map(|(document, mut object)| {
            if !self.strategy.is_up_to_date(document.revision()) {
                self.bring_up_to_date(&mut object);
            }
            encode_like(document, &object)
        });
        shown.collect()
    }

    /// An object as it would be stored today.
    fn refreshed(&self, document: Document) -> Result<Document, Status> {
        if self.strategy.is_up_to_date(document.revision()) {
            return Ok(document);
        }
        let mut object = Object::decode(&document)?;
        self.bring_up_to_date(&mut object);
        encode_like(&document, &object)
    }

    fn bring_up_to_date(&self, object: &mut Object) {
        // What is stored was good once, so that a problem of today is nothing a reader could do about.
        let _ = self.strategy.coerce(object);
        self.strategy.set_defaults(object);
    }

    /// One kept object at this version.
    ///
    /// # Errors
    /// As [`show_all`](Self::show_all).
    pub(crate) async fn show(&self, document: Document) -> Result<Document, Status> {
        let shown = self.show_all(vec![document]).await?;
        shown.into_iter().next().ok_or_else(|| Status::internal_error("the converter has lost an object"))
    }

    /// The bytes of an object that is shown at this version.
    ///
    /// They are those of the document unless these say another version: where versions differ in name alone, nobody
    /// has changed that before, and objects that were written before a definition changed its storage version say the
    /// old one.
    pub(crate) fn bytes(&self, document: &Document) -> Bytes {
        // Neither needs escapes: both are made of the characters of DNS names.
        let head = format!(r#"{{"apiVersion":"{}","kind":"{}","#, self.api_version(), self.kind);
        if document.bytes().starts_with(head.as_bytes()) {
            return document.bytes().clone();
        }
        let mut bytes = BytesMut::with_capacity(head.len() + document.tail().len());
        bytes.put_slice(head.as_bytes());
        bytes.put_slice(document.tail());
        bytes.freeze()
    }
}

/// Encodes what an object has become, at the revision that it has.
fn encode_like(document: &Document, object: &Object) -> Result<Document, Status> {
    let draft = object.encode()?;
    // A dry run has made an object without a revision.
    Ok(match document.revision() {
        0 => draft.without_revision(),
        revision => draft.at(revision),
    })
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

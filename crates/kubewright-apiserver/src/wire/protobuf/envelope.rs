//! What Kubernetes puts around each message: four bytes that say so, and a message with its kind.

use super::{error::ProtobufError, message::Decoder, reader::Reader};
use crate::{fields::TABLE, value::Map};

/// A body whose kind is known and whose fields are not read yet.
///
/// Source: apimachinery `runtime.Unknown`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope<'a> {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    message: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Opens a body.
    pub(crate) fn open(body: &'a [u8]) -> Result<Self, ProtobufError> {
        if body.is_empty() {
            return Err(ProtobufError::Empty);
        }
        let unknown = body.strip_prefix(PREFIX).ok_or(ProtobufError::NoPrefix)?;
        if unknown.is_empty() {
            return Err(ProtobufError::OnlyPrefix);
        }
        let mut envelope = Self::default();
        Reader::new(unknown).each("Unknown", |tag, reader| {
            match tag.number {
                1 => envelope.read_type(reader.bytes_of(tag, "TypeMeta")?)?,
                2 => envelope.message = reader.bytes_of(tag, "Raw")?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(envelope)
    }

    /// Reads the message as one of a built-in kind, into the fields that JSON would have.
    pub(crate) fn decode(&self, api_version: &str, kind: &str) -> Result<Map, ProtobufError> {
        let unknown =
            || ProtobufError::UnknownKind { api_version: api_version.to_owned(), kind: kind.to_owned() };
        let id = TABLE.kind(api_version, kind).ok_or_else(unknown)?;
        Decoder::new(&TABLE).decode(id, self.message)
    }

    fn read_type(&mut self, message: &[u8]) -> Result<(), ProtobufError> {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Reader::new(message).each("TypeMeta", |tag, reader| {
            match tag.number {
                1 => self.api_version = text(reader.bytes_of(tag, "APIVersion")?),
                2 => self.kind = text(reader.bytes_of(tag, "Kind")?),
                _ => return Ok(false),
            }
            Ok(true)
        })
    }
}

/// Whether a kind is a built-in one, served or not.
pub(crate) fn is_known(api_version: &str, kind: &str) -> bool {
    TABLE.kind(api_version, kind).is_some()
}

const PREFIX: &[u8] = b"k8s\0";

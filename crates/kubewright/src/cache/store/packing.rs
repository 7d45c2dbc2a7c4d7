//! How the bytes of one object lie in memory.

use std::borrow::Cow;

/// An object's JSON without `metadata.managedFields`.
#[derive(Debug)]
pub(crate) enum Packed {
    /// As it came, in one allocation of exactly its size.
    Raw(Box<[u8]>),
}

impl Packed {
    /// Packs the text that `pieces` make when put together.
    pub(crate) fn raw(pieces: [&[u8]; 2]) -> Self {
        Self::Raw(pieces.concat().into_boxed_slice())
    }

    /// The JSON text.
    pub(crate) fn unpack(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Raw(text) => Cow::Borrowed(text),
        }
    }

    /// The length of the JSON text in bytes.
    pub(crate) fn unpacked_len(&self) -> usize {
        match self {
            Self::Raw(text) => text.len(),
        }
    }
}

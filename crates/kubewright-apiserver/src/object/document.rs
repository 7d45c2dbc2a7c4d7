//! An encoded object, and the place in it where the revision stands.

use std::ops::Range;

use bytes::Bytes;

/// An encoded object that has no revision yet: the bytes around the digits of `metadata.resourceVersion`.
///
/// The revision is known only once the write is ordered, so the digits are put in under the store's lock. This is
/// a copy of bytes; the object is not encoded again.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
    revision_at: usize,
    metadata: Range<usize>,
}

impl Draft {
    /// `bytes` without the digits, the offset where they belong, and the range of the `metadata` object.
    pub(crate) fn new(bytes: Vec<u8>, revision_at: usize, metadata: Range<usize>) -> Self {
        debug_assert!(metadata.contains(&revision_at), "the revision stands inside metadata");
        Self { bytes, revision_at, metadata }
    }

    /// The object as it reads at `revision`.
    pub(crate) fn at(&self, revision: u64) -> Document {
        let (before, after) = self.bytes.split_at(self.revision_at);
        Document::assemble(before, revision, after, &self.metadata)
    }

    /// The object without a revision, as a dry run shows it.
    pub(crate) fn without_revision(&self) -> Document {
        const FIELD: &[u8] = b"\"resourceVersion\":\"";
        let start = self.revision_at - FIELD.len();
        // The closing quote, and the comma on one side, go with the field.
        let mut range = start..self.revision_at + 1;
        if self.bytes.get(range.end) == Some(&b',') {
            range.end += 1;
        } else if self.bytes[start - 1] == b',' {
            range.start -= 1;
        }
        let mut bytes = self.bytes.clone();
        let metadata = self.metadata.start..self.metadata.end - range.len();
        bytes.drain(range.clone());
        Document { bytes: bytes.into(), revision: 0, digits: range.start..range.start, metadata }
    }
}

/// An encoded object with its revision. Cheap to clone: the bytes are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    bytes: Bytes,
    revision: u64,
    digits: Range<usize>,
    metadata: Range<usize>,
}

impl Document {
    /// The whole object.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The `metadata` object, braces included.
    pub(crate) fn metadata(&self) -> &[u8] {
        &self.bytes[self.metadata.clone()]
    }

    /// Everything from the field `metadata` on; kind and version stand before it.
    pub(crate) fn tail(&self) -> &[u8] {
        const FIELD: &[u8] = b"\"metadata\":";
        &self.bytes[self.metadata.start - FIELD.len()..]
    }

    /// The revision that `metadata.resourceVersion` says.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The same object as of another revision: a deletion carries the revision of the deletion.
    pub(crate) fn at(&self, revision: u64) -> Self {
        if revision == self.revision {
            return self.clone();
        }
        let metadata = self.metadata.start..self.metadata.end - self.digits.len();
        let (before, after) = (&self.bytes[..self.digits.start], &self.bytes[self.digits.end..]);
        Self::assemble(before, revision, after, &metadata)
    }

    fn assemble(before: &[u8], revision: u64, after: &[u8], metadata: &Range<usize>) -> Self {
        let text = revision.to_string();
        let mut bytes = Vec::with_capacity(before.len() + text.len() + after.len());
        bytes.extend_from_slice(before);
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(after);
        Self {
            bytes: bytes.into(),
            revision,
            digits: before.len()..before.len() + text.len(),
            metadata: metadata.start..metadata.end + text.len(),
        }
    }
}

//! The wire format of protobuf: tags, numbers, and bytes with their length.
//!
//! Source: the code that gogo/protobuf generates for `k8s.io/api`, with its order of checks and its texts.

use super::error::ProtobufError;

/// Reads fields one after another. What is declared longer than what is there is refused, so that nothing is
/// allocated on the word of a length.
#[derive(Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

/// What stands before a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    pub(super) number: i32,
    wire_type: u8,
}

impl Tag {
    /// Whether bytes follow: a string, a message, or numbers without tags.
    pub(super) fn is_delimited(self) -> bool {
        self.wire_type == DELIMITED
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls `read` for each field of the message; fields for which it says `false` are skipped.
    pub(super) fn each(
        mut self,
        message: &str,
        mut read: impl FnMut(Tag, &mut Self) -> Result<bool, ProtobufError>,
    ) -> Result<(), ProtobufError> {
        while !self.is_empty() {
            let tag = self.tag(message)?;
            if !read(tag, &mut self)? {
                self.skip(tag)?;
            }
        }
        Ok(())
    }

    /// The key and the value of an entry of a map. Upstream does not look at their wire types.
    pub(super) fn entry(mut self) -> Result<(&'a [u8], &'a [u8]), ProtobufError> {
        let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
        while !self.is_empty() {
            let tag = Self::split(self.varint()?);
            match tag.number {
                1 => key = self.bytes()?,
                2 => value = self.bytes()?,
                _ => self.skip(tag)?,
            }
        }
        Ok((key, value))
    }

    /// The number of a field that is named in the error when something else is there.
    pub(super) fn varint_of(&mut self, tag: Tag, field: &str) -> Result<u64, ProtobufError> {
        expect(tag, VARINT, field)?;
        self.varint()
    }

    /// The eight bytes of a field, as [`Self::varint_of`].
    pub(super) fn fixed64_of(&mut self, tag: Tag, field: &str) -> Result<u64, ProtobufError> {
        expect(tag, FIXED64, field)?;
        let (number, rest) = self.0.split_first_chunk::<8>().ok_or(ProtobufError::UnexpectedEof)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    /// The bytes of a field, as [`Self::varint_of`].
    pub(super) fn bytes_of(&mut self, tag: Tag, field: &str) -> Result<&'a [u8], ProtobufError> {
        expect(tag, DELIMITED, field)?;
        self.bytes()
    }

    pub(super) fn varint(&mut self) -> Result<u64, ProtobufError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or(ProtobufError::UnexpectedEof)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Ok(number);
            }
        }
        Err(ProtobufError::IntegerOverflow)
    }

    fn tag(&mut self, message: &str) -> Result<Tag, ProtobufError> {
        let wire = self.varint()?;
        let tag = Self::split(wire);
        if tag.wire_type == END_GROUP {
            return Err(ProtobufError::EndOfGroup { message: message.to_owned() });
        }
        if tag.number <= 0 {
            return Err(ProtobufError::IllegalTag { message: message.to_owned(), number: tag.number, wire });
        }
        Ok(tag)
    }

    fn split(wire: u64) -> Tag {
        let [first, ..] = wire.to_le_bytes();
        Tag { number: low_half(wire >> 3), wire_type: first & 7 }
    }

    fn bytes(&mut self) -> Result<&'a [u8], ProtobufError> {
        let length = i64::try_from(self.varint()?).map_err(|_| ProtobufError::NegativeLength)?;
        let length = usize::try_from(length).map_err(|_| ProtobufError::UnexpectedEof)?;
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ProtobufError> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(ProtobufError::UnexpectedEof)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Skips what follows a tag. Groups may stand inside each other as deep as they like: they are counted.
    fn skip(&mut self, tag: Tag) -> Result<(), ProtobufError> {
        let (mut wire_type, mut depth) = (tag.wire_type, 0_usize);
        loop {
            match wire_type {
                VARINT => drop(self.varint()?),
                FIXED64 => drop(self.take(8)?),
                DELIMITED => drop(self.bytes()?),
                START_GROUP => depth += 1,
                END_GROUP => depth = depth.checked_sub(1).ok_or(ProtobufError::UnexpectedEndOfGroup)?,
                FIXED32 => drop(self.take(4)?),
                other => return Err(ProtobufError::IllegalWireType(other)),
            }
            if depth == 0 {
                return Ok(());
            }
            wire_type = Self::split(self.varint()?).wire_type;
        }
    }
}

/// The lower four bytes as Go's `int32(number)` takes them.
pub(super) fn low_half(number: u64) -> i32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

fn expect(tag: Tag, wire_type: u8, field: &str) -> Result<(), ProtobufError> {
    if tag.wire_type == wire_type {
        return Ok(());
    }
    Err(ProtobufError::WrongWireType { found: tag.wire_type, field: field.to_owned() })
}

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const DELIMITED: u8 = 2;
const START_GROUP: u8 = 3;
const END_GROUP: u8 = 4;
const FIXED32: u8 = 5;

//! The wire format of protobuf, as it is written.

/// Writes fields one after another. What is empty is not written, but for messages.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(number, text.as_bytes());
        }
    }

    pub(crate) fn flag(&mut self, number: u32, flag: bool) {
        if flag {
            self.varint(number, 1);
        }
    }

    pub(crate) fn number(&mut self, number: u32, value: i64) {
        if value != 0 {
            self.varint(number, value.cast_unsigned());
        }
    }

    pub(crate) fn double(&mut self, number: u32, value: f64) {
        self.tag(number, FIXED64);
        self.0.extend(value.to_bits().to_le_bytes());
    }

    /// Bytes, also none.
    pub(crate) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, DELIMITED);
        self.raw(bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// A number, also nought.
    pub(crate) fn varint(&mut self, number: u32, value: u64) {
        self.tag(number, VARINT);
        self.raw(value);
    }

    /// A message, also an empty one.
    pub(crate) fn message(&mut self, number: u32, write: impl FnOnce(&mut Self)) {
        self.tag(number, DELIMITED);
        let start = self.0.len();
        write(self);
        // Its length is known only now, and stands before it.
        let mut length = Self::default();
        length.raw((self.0.len() - start) as u64);
        self.0.splice(start..start, length.0);
    }

    fn tag(&mut self, number: u32, wire_type: u64) {
        self.raw(u64::from(number) << 3 | wire_type);
    }

    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const DELIMITED: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_with_their_numbers_and_lengths() {
        let mut writer = Writer::default();
        writer.text(1, "ab");
        writer.text(2, "");
        writer.number(3, 300);
        writer.message(4, |inner| inner.flag(1, true));
        writer.message(5, |_| {});
        assert_eq!(writer.into_bytes(), [0x0a, 2, b'a', b'b', 0x18, 0xac, 2, 0x22, 2, 8, 1, 0x2a, 0]);
    }

    #[test]
    fn a_long_message_has_a_long_length() {
        let mut writer = Writer::default();
        writer.message(1, |inner| inner.bytes(1, &[7; 200]));
        assert_eq!(writer.into_bytes()[..6], [0x0a, 203, 1, 0x0a, 200, 1]);
    }
}

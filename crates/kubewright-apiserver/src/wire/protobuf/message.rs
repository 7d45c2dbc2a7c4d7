//! Messages, by the table.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    error::ProtobufError,
    reader::{Reader, Tag, low_half},
    special,
};
use crate::{
    fields::{Field, MessageId, Repeats, Shape, Table, is_empty},
    object::{MAX_DEPTH, is_within},
    value::{Map, Value},
    wire::MAX_BODY_BYTES,
};

/// Reads one body. It counts what JSON would take: a few bytes of protobuf may stand for a long name in JSON.
#[derive(Debug)]
pub(super) struct Decoder {
    table: &'static Table,
    left: usize,
}

impl Decoder {
    pub(super) fn new(table: &'static Table) -> Self {
        Self { table, left: MAX_BODY_BYTES }
    }

    /// Reads the fields of a kind.
    pub(super) fn decode(mut self, id: MessageId, bytes: &[u8]) -> Result<Map, ProtobufError> {
        let mut fields = Map::new();
        self.message(id, bytes, MAX_DEPTH, &mut fields)?;
        // JSON inside has levels of its own.
        if fields.values().all(|value| is_within(value, MAX_DEPTH - 1)) {
            Ok(fields)
        } else {
            Err(ProtobufError::TooDeep)
        }
    }

    /// Reads a message into what is there of it already, as protobuf merges what comes twice.
    fn message(
        &mut self,
        id: MessageId,
        bytes: &[u8],
        levels: usize,
        into: &mut Map,
    ) -> Result<(), ProtobufError> {
        let levels = levels.checked_sub(1).ok_or(ProtobufError::TooDeep)?;
        let message = self.table.message(id);
        Reader::new(bytes).each(message.name, |tag, reader| {
            let Some(field) = message.field(tag.number) else { return Ok(false) };
            self.field(field, tag, reader, levels, into)?;
            Ok(true)
        })
    }

    fn field(
        &mut self,
        field: &Field,
        tag: Tag,
        reader: &mut Reader<'_>,
        levels: usize,
        into: &mut Map,
    ) -> Result<(), ProtobufError> {
        let Some(name) = field.name else {
            let Shape::Message(id) = field.shape else { return Ok(()) };
            return self.message(id, reader.bytes_of(tag, &field.go_name)?, levels, into);
        };
        self.charge(name.len() + PUNCTUATION)?;
        match field.repeats {
            Repeats::Once => {
                let before = into.remove(name);
                let value = self.value(field, tag, reader, levels, before)?;
                if !(field.drops_empty && is_empty(&value)) {
                    into.insert(name.into(), value);
                }
            }
            Repeats::List => {
                let list = into.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                let Value::Array(list) = list else { return Ok(()) };
                if tag.is_delimited() && is_number(field.shape) {
                    let mut packed = Reader::new(reader.bytes_of(tag, &field.go_name)?);
                    while !packed.is_empty() {
                        self.charge(PUNCTUATION)?;
                        list.push(number(field.shape, packed.varint()?));
                    }
                } else {
                    list.push(self.value(field, tag, reader, levels.saturating_sub(1), None)?);
                }
            }
            Repeats::Map => {
                let (key, value) = Reader::new(reader.bytes_of(tag, &field.go_name)?).entry()?;
                self.charge(key.len() + PUNCTUATION)?;
                let value = self.delimited(field.shape, value, levels.saturating_sub(1), None)?;
                let map = into.entry(name).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(map) = map {
                    map.insert(text(key).into(), value);
                }
            }
        }
        Ok(())
    }

    fn value(
        &mut self,
        field: &Field,
        tag: Tag,
        reader: &mut Reader<'_>,
        levels: usize,
        before: Option<Value>,
    ) -> Result<Value, ProtobufError> {
        let name = &field.go_name;
        match field.shape {
            shape if is_number(shape) => Ok(number(shape, reader.varint_of(tag, name)?)),
            Shape::Float64 => special::float(f64::from_bits(reader.fixed64_of(tag, name)?)),
            shape => self.delimited(shape, reader.bytes_of(tag, name)?, levels, before),
        }
    }

    /// A value that comes as bytes.
    fn delimited(
        &mut self,
        shape: Shape,
        bytes: &[u8],
        levels: usize,
        before: Option<Value>,
    ) -> Result<Value, ProtobufError> {
        self.charge(bytes_in_json(shape, bytes))?;
        match shape {
            Shape::Message(id) => {
                let mut fields = before.and_then(into_object).unwrap_or_default();
                self.message(id, bytes, levels, &mut fields)?;
                Ok(fields.into())
            }
            Shape::Bytes => Ok(STANDARD.encode(bytes).into()),
            Shape::Items => special::items(bytes),
            Shape::Time => special::time(bytes),
            Shape::MicroTime => special::micro_time(bytes),
            Shape::Quantity => special::quantity(bytes),
            Shape::IntOrString => special::int_or_string(bytes),
            Shape::Json => special::json(bytes),
            Shape::SchemaOrArray(id) | Shape::SchemaOrBool(id) | Shape::SchemaOrStrings(id) => {
                special::schema_or(shape, bytes, |schema| {
                    let mut fields = Map::new();
                    self.charge(PUNCTUATION)?;
                    self.message(id, schema, levels.saturating_sub(1), &mut fields)?;
                    Ok(fields.into())
                })
            }
            Shape::String | Shape::Bool | Shape::Int32 | Shape::Int64 | Shape::Float64 => {
                Ok(text(bytes).into())
            }
        }
    }

    fn charge(&mut self, bytes: usize) -> Result<(), ProtobufError> {
        self.left = self.left.checked_sub(bytes).ok_or(ProtobufError::TooLarge)?;
        Ok(())
    }
}

/// How long the bytes are in JSON, about. Messages count their fields instead.
fn bytes_in_json(shape: Shape, bytes: &[u8]) -> usize {
    match shape {
        Shape::Message(_) | Shape::SchemaOrArray(_) | Shape::SchemaOrBool(_) => PUNCTUATION,
        Shape::Bytes => bytes.len() / 3 * 4 + PUNCTUATION,
        _ => bytes.len() + PUNCTUATION,
    }
}

/// Strings are taken as they are; upstream's JSON has the replacement character where they are no UTF-8.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_number(shape: Shape) -> bool {
    matches!(shape, Shape::Bool | Shape::Int32 | Shape::Int64)
}

fn number(shape: Shape, varint: u64) -> Value {
    match shape {
        Shape::Bool => (varint != 0).into(),
        Shape::Int32 => low_half(varint).into(),
        _ => varint.cast_signed().into(),
    }
}

fn into_object(value: Value) -> Option<Map> {
    if let Value::Object(fields) = value { Some(fields) } else { None }
}

/// Quotes, colon and comma.
const PUNCTUATION: usize = 4;

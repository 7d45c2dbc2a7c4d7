//! Types whose JSON is not that of their message.

use jiff::Timestamp;

use super::{
    error::ProtobufError,
    message::text,
    reader::{Reader, low_half},
};
use crate::{fields::Shape, object::from_json, value::Value};

/// Source: apimachinery `metav1.Time`, which leaves fractions of seconds out.
pub(super) fn time(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let Some((seconds, _)) = timestamp(bytes)? else { return Ok(Value::Null) };
    let time = Timestamp::from_second(seconds).map_err(|_| no_time(seconds))?;
    Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
}

/// Source: apimachinery `metav1.MicroTime`, which always writes six digits.
pub(super) fn micro_time(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let Some((seconds, nanos)) = timestamp(bytes)? else { return Ok(Value::Null) };
    let micros = i128::from(seconds) * 1_000_000 + i128::from(nanos / 1_000);
    let time = Timestamp::from_nanosecond(micros * 1_000).map_err(|_| no_time(seconds))?;
    Ok(time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string().into())
}

/// Source: apimachinery `resource.Quantity`.
///
/// # Differences from Go
/// The text is not parsed here, as it is not in JSON either.
pub(super) fn quantity(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let mut found = "0".to_owned();
    Reader::new(bytes).each("Quantity", |tag, reader| {
        let known = tag.number == 1;
        if known {
            found = text(reader.bytes_of(tag, "String_")?);
        }
        Ok(known)
    })?;
    Ok(found.into())
}

/// Source: apimachinery `intstr.IntOrString`.
pub(super) fn int_or_string(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let (mut kind, mut number, mut string) = (0, 0, String::new());
    Reader::new(bytes).each("IntOrString", |tag, reader| {
        match tag.number {
            1 => kind = reader.varint_of(tag, "Type")?,
            2 => number = low_half(reader.varint_of(tag, "IntVal")?),
            3 => string = text(reader.bytes_of(tag, "StrVal")?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    match kind {
        0 => Ok(number.into()),
        1 => Ok(string.into()),
        _ => Err(ProtobufError::NoJson("impossible IntOrString.Type".to_owned())),
    }
}

/// JSON that a message carries as bytes.
///
/// Source: apimachinery `runtime.RawExtension` and `metav1.FieldsV1`.
pub(super) fn json(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let mut raw: &[u8] = &[];
    Reader::new(bytes).each("RawExtension", |tag, reader| {
        let known = tag.number == 1;
        if known {
            raw = reader.bytes_of(tag, "Raw")?;
        }
        Ok(known)
    })?;
    if raw.is_empty() {
        return Ok(Value::Null);
    }
    from_json(raw).map_err(ProtobufError::NoJson)
}

/// A list of strings.
///
/// Source: `rbac/v1`, `authentication/v1.ExtraValue`.
pub(super) fn items(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let mut list: Vec<Value> = Vec::new();
    Reader::new(bytes).each("ExtraValue", |tag, reader| {
        let known = tag.number == 1;
        if known {
            list.push(text(reader.bytes_of(tag, "Items")?).into());
        }
        Ok(known)
    })?;
    Ok(list.into())
}

/// A schema, or something simpler in its place.
///
/// Source: apiextensions `JSONSchemaPropsOrArray`, `…OrBool` and `…OrStringArray`.
pub(super) fn schema_or(
    shape: Shape,
    bytes: &[u8],
    mut read_schema: impl FnMut(&[u8]) -> Result<Value, ProtobufError>,
) -> Result<Value, ProtobufError> {
    let (name, schema_number) = match shape {
        Shape::SchemaOrBool(_) => ("JSONSchemaPropsOrBool", 2),
        Shape::SchemaOrStrings(_) => ("JSONSchemaPropsOrStringArray", 1),
        _ => ("JSONSchemaPropsOrArray", 1),
    };
    let (mut schema, mut list, mut allows) = (None, Vec::new(), false);
    Reader::new(bytes).each(name, |tag, reader| {
        match (shape, tag.number) {
            (_, number) if number == schema_number => {
                schema = Some(read_schema(reader.bytes_of(tag, "Schema")?)?);
            }
            (Shape::SchemaOrBool(_), 1) => allows = reader.varint_of(tag, "Allows")? != 0,
            (Shape::SchemaOrStrings(_), 2) => list.push(text(reader.bytes_of(tag, "Property")?).into()),
            (Shape::SchemaOrArray(_), 2) => list.push(read_schema(reader.bytes_of(tag, "JSONSchemas")?)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(match (shape, schema) {
        (Shape::SchemaOrBool(_), None) => allows.into(),
        (_, schema) if list.is_empty() => schema.unwrap_or_default(),
        _ => list.into(),
    })
}

/// Whole numbers have no point in Go's JSON.
pub(super) fn float(number: f64) -> Result<Value, ProtobufError> {
    if !number.is_finite() {
        return Err(ProtobufError::NoJson(format!("json: unsupported value: {number}")));
    }
    let text = number.to_string();
    Ok(text.parse::<i64>().map_or_else(|_| number.into(), Value::from))
}

/// Seconds and nanoseconds; nothing at all is no time.
fn timestamp(bytes: &[u8]) -> Result<Option<(i64, i32)>, ProtobufError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (mut seconds, mut nanos) = (0, 0);
    Reader::new(bytes).each("Timestamp", |tag, reader| {
        match tag.number {
            1 => seconds = reader.varint_of(tag, "Seconds")?.cast_signed(),
            2 => nanos = low_half(reader.varint_of(tag, "Nanos")?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(Some((seconds, nanos)))
}

fn no_time(seconds: i64) -> ProtobufError {
    ProtobufError::NoJson(format!("Time.MarshalJSON: {seconds} seconds are outside of the years of JSON"))
}

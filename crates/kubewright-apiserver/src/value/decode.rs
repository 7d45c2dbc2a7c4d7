//! From JSON to a value: names are shared and depth is limited, in one pass.

use std::{collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

use super::{Key, Map, Number, Value};

/// Reads JSON. Of fields that occur more than once in the same object the last one counts.
///
/// # Errors
/// What is no JSON; [`TOO_DEEP`] when more than `levels` arrays and objects stand inside each other.
pub(crate) fn decode(json: &[u8], levels: usize) -> Result<Value, serde_json::Error> {
    let mut document = Document::default();
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = Seed { document: &mut document, levels }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Source: the `encoding/json` of Go.
pub(crate) const TOO_DEEP: &str = "exceeded max depth";

impl<'de> Deserialize<'de> for Value {
    /// As deep as the reader goes.
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Seed { document: &mut Document::default(), levels: usize::MAX }.deserialize(reader)
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        match Value::deserialize(reader)? {
            Value::Object(fields) => Ok(fields),
            _ => Err(D::Error::custom("not an object")),
        }
    }
}

/// What is known of the whole text while it is read.
#[derive(Debug, Default)]
struct Document {
    names: HashSet<Key>,
    /// The fields of all objects that have not ended, the outermost first: a map is made when its length is known.
    open: Vec<(Key, Value)>,
}

impl Document {
    fn name(&mut self, text: &str) -> Key {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Key::from(text);
        self.names.insert(name.clone());
        name
    }
}

/// Reads a value, with `levels` to go.
struct Seed<'a> {
    document: &'a mut Document,
    levels: usize,
}

impl Seed<'_> {
    fn descend<E: Error>(&self) -> Result<usize, E> {
        self.levels.checked_sub(1).ok_or_else(|| E::custom(TOO_DEEP))
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any valid JSON value")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let levels = self.descend()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Seed { document: self.document, levels })? {
            list.push(item);
        }
        list.shrink_to_fit();
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let levels = self.descend()?;
        let start = self.document.open.len();
        while let Some(name) = fields.next_key_seed(Name(self.document))? {
            let value = fields.next_value_seed(Seed { document: self.document, levels })?;
            self.document.open.push((name, value));
        }
        Ok(Value::Object(self.document.open.drain(start..).collect()))
    }
}

/// Reads the name of a field.
struct Name<'a>(&'a mut Document);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Key, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Key, E> {
        Ok(self.0.name(text))
    }
}

//! The JSON of a typed object, in which quantities are compared by value.
//!
//! JSON alone cannot tell a quantity from a text that looks like one: `1000m` and `1` are the same CPU request, and two values of an environment variable. The Rust type can: a
//! `Quantity` serialises itself under its name. So it holds for typed objects; in a `DynamicObject` texts are texts.

use serde::{
    Serialize, Serializer,
    ser::{
        Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};
use serde_json::{Error, Map, Value, value};

use crate::client::quantity;

/// Both objects as JSON. A quantity of `after` that has the value that it has in `before` has that spelling, too.
pub(crate) fn pair<K: Serialize>(before: &K, after: &K) -> Result<(Value, Value), Error> {
    let (mut before, mut after) = (before.serialize(Marking)?, after.serialize(Marking)?);
    respell(&before, &mut after);
    unmark(&mut before);
    unmark(&mut after);
    Ok((before, after))
}

fn respell(before: &Value, after: &mut Value) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, after) in after {
                if let Some(before) = before.get(name) {
                    respell(before, after);
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            before.iter().zip(after).for_each(|(before, after)| respell(before, after));
        }
        (Value::String(before), Value::String(after)) => {
            if let (Some(old), Some(new)) = (before.strip_prefix(MARK), after.strip_prefix(MARK))
                && quantity::is_same(old, new)
            {
                after.clone_from(before);
            }
        }
        _ => {}
    }
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(unmark),
        Value::Array(elements) => elements.iter_mut().for_each(unmark),
        Value::String(text) if text.starts_with(MARK) => {
            text.drain(..MARK.len());
        }
        _ => {}
    }
}

/// Long and odd enough that no text of an object starts with it by chance; one that did would be written without it.
const MARK: &str = "\u{0}kubewright.quantity\u{0}";

/// Serialises as `serde_json::to_value` does, and marks quantities.
struct Marking;

/// Collects the elements of a list, or the fields of an object, inside of `variant` if it is one of an enum.
struct Elements {
    variant: Option<&'static str>,
    all: Vec<Value>,
}

struct Fields {
    variant: Option<&'static str>,
    key: Option<String>,
    all: Map<String, Value>,
}

impl Elements {
    fn new(variant: Option<&'static str>) -> Self {
        Self { variant, all: Vec::new() }
    }

    fn add<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
        self.all.push(element.serialize(Marking)?);
        Ok(())
    }

    fn finish(self) -> Value {
        inside(self.variant, Value::Array(self.all))
    }
}

impl Fields {
    fn new(variant: Option<&'static str>) -> Self {
        Self { variant, key: None, all: Map::new() }
    }

    fn add<T: Serialize + ?Sized>(&mut self, name: &str, field: &T) -> Result<(), Error> {
        self.all.insert(name.to_owned(), field.serialize(Marking)?);
        Ok(())
    }

    fn finish(self) -> Value {
        inside(self.variant, Value::Object(self.all))
    }
}

fn inside(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        Some(name) => Value::Object([(name.to_owned(), value)].into_iter().collect()),
        None => value,
    }
}

macro_rules! as_serde_json_does {
    ($($method:ident($($type:ty)?),)*) => {
        $(fn $method(self $(, it: $type)?) -> Result<Value, Error> {
            value::Serializer.$method($({ let it: $type = it; it })?)
        })*
    };
}

impl Serializer for Marking {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Fields;

    as_serde_json_does! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128), serialize_f32(f32),
        serialize_f64(f64), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]), serialize_none(), serialize_unit(),
        serialize_unit_struct(&'static str),
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Error> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value, Error> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        Ok(match value.serialize(self)? {
            Value::String(text) if name == "Quantity" => format!("{MARK}{text}").into(),
            value => value,
        })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        Ok(inside(Some(variant), value.serialize(self)?))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements, Error> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements, Error> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements, Error> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements, Error> {
        Ok(Elements::new(Some(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Fields, Error> {
        Ok(Fields::new(None))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, Error> {
        Ok(Fields::new(None))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Fields, Error> {
        Ok(Fields::new(Some(variant)))
    }
}

macro_rules! of_elements {
    ($($trait:ident::$method:ident,)*) => {
        $(impl $trait for Elements {
            type Ok = Value;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
                self.add(element)
            }

            fn end(self) -> Result<Value, Error> {
                Ok(self.finish())
            }
        })*
    };
}

of_elements! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! of_fields {
    ($($trait:ident,)*) => {
        $(impl $trait for Fields {
            type Ok = Value;
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                field: &T,
            ) -> Result<(), Error> {
                self.add(name, field)
            }

            fn end(self) -> Result<Value, Error> {
                Ok(self.finish())
            }
        })*
    };
}

of_fields! { SerializeStruct, SerializeStructVariant, }

impl SerializeMap for Fields {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = Some(match serde_json::to_value(key)? {
            Value::String(key) => key,
            Value::Number(key) => key.to_string(),
            Value::Bool(key) => key.to_string(),
            _ => return Err(Error::custom("a key of a map is no text")),
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().ok_or_else(|| Error::custom("a value of a map has no key"))?;
        self.add(&key, value)
    }

    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    use serde_json::json;

    use super::*;

    fn pod(cpu: &str, variable: &str) -> Pod {
        serde_json::from_value(json!({
            "metadata": { "name": "a", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": { "a": "1" } },
            "spec": { "containers": [{
                "name": "c",
                "env": [{ "name": "N", "value": variable }],
                "livenessProbe": { "httpGet": { "port": 80 } },
                "resources": { "limits": { "cpu": cpu } },
            }] },
        }))
        .unwrap()
    }

    #[test]
    fn quantities_are_equal_by_value_and_other_texts_are_not() {
        let (before, after) = pair(&pod("1", "1"), &pod("1000m", "1")).unwrap();
        assert_eq!(before, after);
        let (before, after) = pair(&pod("1", "1"), &pod("1000m", "1000m")).unwrap();
        assert_ne!(before, after);
        assert_eq!(after, serde_json::to_value(pod("1", "1000m")).unwrap());
        let (_, after) = pair(&pod("1", "1"), &pod("2000m", "1")).unwrap();
        assert_eq!(after, serde_json::to_value(pod("2000m", "1")).unwrap());
        let data = |value: &str| -> ConfigMap {
            serde_json::from_value(json!({"metadata": {}, "data": {"cpu": value}})).unwrap()
        };
        let (before, after) = pair(&data("1"), &data("1000m")).unwrap();
        assert_ne!(before, after);
    }

    #[test]
    fn everything_else_is_what_serde_json_makes_of_it() {
        #[derive(Serialize)]
        enum Kind {
            Unit,
            New(u8),
            Tuple(u8, f32),
            Struct { a: Option<char> },
        }
        #[derive(Serialize)]
        struct All(Vec<Kind>, std::collections::BTreeMap<u32, bool>, (), (i64, &'static str));
        let kinds = || {
            vec![
                Kind::Unit,
                Kind::New(1),
                Kind::Tuple(2, 0.5),
                Kind::Struct { a: Some('x') },
                Kind::Struct { a: None },
            ]
        };
        let all = || All(kinds(), [(1, true)].into(), (), (-1, "text"));
        let (before, after) = pair(&all(), &all()).unwrap();
        assert_eq!(before, serde_json::to_value(all()).unwrap());
        assert_eq!(after, before);
    }
}

//! Making values of what Rust has, and of serde's.

use std::borrow::Cow;

use super::{Key, Map, Number, Value};

macro_rules! from_integers {
    ($($integer:ty),*) => {
        $(impl From<$integer> for Value {
            fn from(number: $integer) -> Self {
                Self::Number(number.into())
            }
        })*
    };
}
from_integers!(u8, u16, u32, u64, usize, i32, i64);

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<f64> for Value {
    /// What is not finite is null.
    fn from(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into())
    }
}

impl From<Key> for Value {
    fn from(key: Key) -> Self {
        key.as_str().into()
    }
}

impl From<Map> for Value {
    fn from(fields: Map) -> Self {
        Self::Object(fields)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value> + Clone> From<&[T]> for Value {
    fn from(items: &[T]) -> Self {
        items.iter().cloned().collect()
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value as Other;
        match value {
            Other::Null => Self::Null,
            Other::Bool(flag) => Self::Bool(flag),
            Other::Number(number) => Self::Number(number),
            Other::String(text) => text.into(),
            Other::Array(items) => items.into_iter().collect(),
            Other::Object(fields) => Self::Object(fields.into_iter().collect()),
        }
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::String(text.into()),
            Value::Array(items) => items.into_iter().collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(key, value)| (key.as_str().to_owned(), value.into()));
                Self::Object(fields.collect())
            }
        }
    }
}

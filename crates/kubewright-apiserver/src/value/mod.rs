//! JSON as a small tree: what bodies are decoded into, and what every room works on.
//!
//! Fields are kept in a sorted vector of exactly their number, the fields of one document share their names, and texts
//! and lists have no spare room: a body of `{"a":0}` by the hundred thousand takes a tenth of what it takes as
//! `serde_json::Value`. The methods have the same names as there, and the public surface of the crate shows that type.

mod compare;
mod convert;
mod decode;
mod encode;
mod entry;
mod index;
mod iter;
mod key;
mod map;
mod path;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use decode::{TOO_DEEP, decode};
pub(crate) use key::Key;
pub(crate) use map::Map;
pub(crate) use path::{NO_PATH, Path};
pub(crate) use serde_json::Number;
pub(crate) use tree::Value;

/// A [`Value`], written as JSON. What stands in it is copied: large values are put into a [`Map`] instead.
macro_rules! json {
    ($($json:tt)+) => { $crate::value::Value::from(::serde_json::json!($($json)+)) };
}
pub(crate) use json;

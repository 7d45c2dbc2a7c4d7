//! One object: decoded, as the handlers change it; encoded, as it is kept and sent; and the way from one to the other.

mod codec;
mod decoded;
mod document;
mod unmarshal;

pub(crate) use codec::{MAX_DEPTH, from_json, from_yaml, is_within};
pub(crate) use decoded::{CodecError, Object, object_at};
pub(crate) use document::{Document, Draft};
pub(crate) use unmarshal::{Struct, Typed};

//! The objects of one informer, packed. Knows bytes and keys, no sockets and no tasks.

mod decoded;
mod entry;
mod header;
mod interner;
mod objects;
mod packing;
mod uid;

pub use entry::DecodeError;
pub(crate) use entry::Entry;
pub(crate) use header::{Header, HeaderError};
pub(crate) use objects::{Applied, Change, Deletion, Past, Store};
pub(crate) use uid::Uid;

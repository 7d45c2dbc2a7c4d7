//! Bodies in protobuf, which typed clients in Go send for built-in kinds, become what JSON would have said.
//!
//! # Differences from Go
//! An object whose JSON would be larger than a JSON body may be is refused. Upstream's etcd refuses such objects later.

mod envelope;
mod error;
mod message;
mod reader;
mod special;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use envelope::{Envelope, is_known};
pub(crate) use error::ProtobufError;
pub(crate) use writer::Writer;

/// The media type of such bodies.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

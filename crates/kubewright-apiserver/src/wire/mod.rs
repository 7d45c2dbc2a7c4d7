//! From HTTP to a call and from an answer to HTTP: what was asked, in which form, and how the answer reads.

mod accept;
mod body;
mod brief;
mod content;
mod json_path;
mod protobuf;
mod reply;
mod table;

pub(crate) use accept::{Accept, Form, clauses};
pub use body::{Body, BodyError};
pub(crate) use content::{
    MAX_BODY_BYTES, PatchType, check_shape, decode, decode_as, decode_delete_options, decode_scale, is_json,
    patch_type, patch_types,
};
pub(crate) use protobuf::Writer as ProtobufWriter;
pub(crate) use reply::{List, Reply, json_response, metadata_only, respond, text_response};
pub(crate) use table::Table;

//! Patches as pure functions on values.

mod json;
mod merge;

pub(crate) use json::{JsonPatchError, json_patch};
pub(crate) use merge::merge_patch;

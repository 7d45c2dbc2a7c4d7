//! Patches as pure functions on values.

mod json;
mod merge;
mod operations;
mod pointer;
#[cfg(test)]
mod tests;

pub(crate) use json::{JsonPatch, JsonPatchError};
pub(crate) use merge::merge_patch;

//! Patches as pure functions on values.

mod json;
mod merge;
mod operations;
mod pointer;
mod strategic;
#[cfg(test)]
mod tests;

pub(crate) use json::{JsonPatch, JsonPatchError};
pub(crate) use merge::merge_patch;
pub(crate) use strategic::{Facts, StrategicPatchError, strategic_merge_patch};

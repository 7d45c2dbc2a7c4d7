//! `CustomResourceDefinition`s: what they may say, how they may change, and that their objects go first.
//!
//! Source: apiextensions `validation.ValidateCustomResourceDefinition` and its siblings. Their paths are those of the
//! internal version, in which versions that say the same say it once: `spec.validation` for `spec.versions[*].schema`.

mod approval;
mod check;
mod column;
mod conversion;
mod name;
mod part;
mod selectable;
mod spec;
mod stored;
mod strategy;
mod subresource;
#[cfg(test)]
mod tests;
mod version;

pub(super) use check::check;
pub(super) use part::versions;
pub(super) use strategy::Definitions;
pub(crate) use strategy::set_condition;

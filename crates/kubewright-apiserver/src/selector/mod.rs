//! Label and field selectors: parsing and matching.

mod field;
mod label;
mod syntax;
mod text;

pub(crate) use field::{FieldLabel, FieldSelector};
pub(crate) use label::LabelSelector;
pub(crate) use text::selector_text;

//! Label and field selectors: parsing and matching.

mod field;
mod label;
mod text;

pub(crate) use field::FieldSelector;
pub(crate) use label::LabelSelector;
pub(crate) use text::selector_text;

//! What names may look like, and the keys and values of labels.

mod qualified;
mod rule;

pub(crate) use qualified::{check_config_key, check_label_value, check_qualified_name};
pub(crate) use rule::NameRule;

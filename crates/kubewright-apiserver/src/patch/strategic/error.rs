//! Why a patch cannot be applied.

use thiserror::Error;

use crate::{
    error::fmt,
    value::{Map, Value},
};

/// Why a strategic merge patch cannot be applied.
///
/// Source: apimachinery `util/mergepatch`.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum StrategicPatchError {
    /// A directive has the wrong form. The client has made a mistake.
    #[error("invalid patch format of {0}")]
    Format(&'static str),
    /// A list holds lists.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The patch and the object do not fit. Upstream takes this for a fault of its own.
    #[error("{0}")]
    Unfit(String),
}

impl StrategicPatchError {
    pub(super) fn no_key(item: &Map, key: &str) -> Self {
        let shown = fmt::map(item);
        Self::Unfit(format!("map: {shown} does not contain declared merge key: {key}"))
    }

    pub(super) fn unknown_directive(directive: &Value, map: &Map) -> Self {
        Self::Unfit(format!("unknown patch type: {} in map: {}", fmt::value(directive), fmt::map(map)))
    }

    pub(super) fn wrong_type(wanted: &str, found: &Value) -> Self {
        // A nil where Go wants a type's name.
        let found = if found.is_null() { "%!s(<nil>)" } else { fmt::type_name(found) };
        Self::Unfit(format!("expected a {wanted}, but received a {found}"))
    }
}

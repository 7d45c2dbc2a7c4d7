//! Strategic merge patch: a merge patch that knows which lists are sets, and by which key their items are told apart.
//!
//! Source: apimachinery `util/strategicpatch.StrategicMergeMapPatch`.

mod error;
mod facts;
mod list;
mod map;
mod order;
#[cfg(test)]
mod tests;

use crate::value::Map;

pub(crate) use error::StrategicPatchError;
pub(crate) use facts::Facts;

/// Merges `patch` into `target`, an object of which the facts are known.
///
/// # Errors
/// A directive that is none, items without the key that tells them apart, lists of different things.
///
/// # Differences from Go
/// Fields that the kind does not have are merged as any others, where upstream answers 500.
pub(crate) fn strategic_merge_patch(
    target: Map,
    patch: Map,
    facts: Facts,
) -> Result<Map, StrategicPatchError> {
    map::merge(target, patch, facts)
}

//! Objects.

use super::{error::StrategicPatchError, facts::Facts, list, order};
use crate::value::{Key, Map, Value};

/// Says that the map around it replaces, or removes, the one in the object.
pub(super) const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_PREFIX: &str = "$deleteFromPrimitiveList";
pub(super) const ORDER_PREFIX: &str = "$setElementOrder";

/// Merges two objects.
///
/// Source: apimachinery `strategicpatch.mergeMap`, with the options of a patch that is applied to an object.
pub(super) fn merge(mut original: Map, mut patch: Map, facts: Facts) -> Result<Map, StrategicPatchError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(StrategicPatchError::unknown_directive(directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    order::apply(&mut original, &mut patch, facts)?;
    for (name, value) in patch {
        let (name, is_deletion): (Key, bool) = match without_prefix(&name, DELETE_PREFIX, "primitive list")? {
            Some(name) => (name.into(), true),
            None => (name, false),
        };
        if value.is_null() {
            original.remove(&name);
            continue;
        }
        let (strategy, below) = facts.field(&name);
        let merged = match (original.remove(&name), value) {
            (Some(Value::Object(original)), Value::Object(patch)) => {
                let merged = if strategy.replaces { Ok(patch) } else { merge(original, patch, below) };
                Some(Value::Object(merged?))
            }
            (Some(Value::Array(original)), Value::Array(patch)) => {
                let merged = if strategy.merges || is_deletion {
                    list::merge(original, patch, below, strategy.key, is_deletion)?
                } else {
                    patch
                };
                Some(Value::Array(merged))
            }
            (original, _) if is_deletion => original,
            (_, new) => as_new(new),
        };
        original.extend(merged.map(|merged| (name, merged)));
    }
    Ok(original)
}

/// A value of the patch that stands alone: without nulls and directives. `None` when it is a directive itself.
///
/// Source: apimachinery `strategicpatch.removeDirectives`, `discardNullValuesFromPatch`.
pub(super) fn as_new(value: Value) -> Option<Value> {
    Some(match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => return None,
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.filter_map(|(name, value)| Some((name, as_new(value)?))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().filter_map(as_new).collect()),
        other => other,
    })
}

/// The field that a directive such as `$setElementOrder/ports` is about.
///
/// Source: apimachinery `strategicpatch.extractKey`.
pub(super) fn without_prefix<'a>(
    name: &'a str,
    prefix: &str,
    what: &'static str,
) -> Result<Option<&'a str>, StrategicPatchError> {
    match name.strip_prefix(prefix) {
        None => Ok(None),
        Some(rest) => rest.strip_prefix('/').map(Some).ok_or(StrategicPatchError::Format(what)),
    }
}

/// Of the object, only the fields stay that the directive lists.
///
/// Source: apimachinery `strategicpatch.applyRetainKeysDirective`.
fn retain_keys(original: &mut Map, patch: &mut Map) -> Result<(), StrategicPatchError> {
    let Some(kept) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let bad = StrategicPatchError::Format("retainKeys");
    let Value::Array(kept) = kept else { return Err(bad) };
    let is_kept = |name: &str| kept.iter().any(|kept| kept == name);
    let is_free = |name: &str| name.starts_with(DELETE_PREFIX) || name.starts_with(ORDER_PREFIX);
    if patch.iter().any(|(name, value)| !value.is_null() && !is_free(name) && !is_kept(name)) {
        return Err(bad);
    }
    original.retain(|name, _| is_kept(name));
    Ok(())
}

//! Lists whose items are told apart by a key, or by what they are.

use super::{
    error::StrategicPatchError,
    facts::Facts,
    map::{self, DIRECTIVE, as_new},
    order,
};
use crate::{
    error::fmt,
    value::{Map, Value},
};

/// Merges two lists.
///
/// Source: apimachinery `strategicpatch.mergeSlice`.
pub(super) fn merge(
    original: Vec<Value>,
    patch: Vec<Value>,
    facts: Facts,
    key: &str,
    is_deletion: bool,
) -> Result<Vec<Value>, StrategicPatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if !are_maps(&original, &patch)? {
        if is_deletion {
            return Ok(original.into_iter().filter(|item| !patch.contains(item)).collect());
        }
        let mut merged = Vec::new();
        for item in original.iter().chain(&patch) {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
        return order::arrange(merged, &patch, &original, None);
    }
    if key.is_empty() {
        return Err(StrategicPatchError::Unfit("cannot merge lists without merge key for struct".to_owned()));
    }
    let (original, patch) = special_items(original, patch, key)?;
    let merged = merge_items(original.clone(), &patch, facts, key)?;
    order::arrange(merged, &patch, &original, Some(key))
}

/// Whether the items are maps. All of them are alike.
///
/// Source: apimachinery `strategicpatch.sliceElementType`.
pub(super) fn are_maps(original: &[Value], patch: &[Value]) -> Result<bool, StrategicPatchError> {
    let kind = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(number) if number.is_i64() => 2,
        Value::Number(_) => 3,
        Value::String(_) => 4,
        Value::Array(_) => 5,
        Value::Object(_) => 6,
    };
    let mut items = original.iter().chain(patch);
    let Some(first) = items.next() else {
        return Err(StrategicPatchError::Unfit("no elements in any of the given slices".to_owned()));
    };
    if first.is_array() {
        return Err(StrategicPatchError::ListOfLists);
    }
    if first.is_null() || items.any(|item| kind(item) != kind(first)) {
        let shown = format!("[{} {}]", fmt::list(original), fmt::list(patch));
        return Err(StrategicPatchError::Unfit(format!("list element types are not identical: {shown}")));
    }
    Ok(first.is_object())
}

/// Does what items with a directive say, and takes them out of the patch.
///
/// Source: apimachinery `strategicpatch.mergeSliceWithSpecialElements`.
fn special_items(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), StrategicPatchError> {
    let mut plain = Vec::new();
    let mut replaces = false;
    for item in patch {
        let fields = item.as_object().ok_or_else(|| StrategicPatchError::wrong_type(fmt::MAP, &item))?;
        match fields.get(DIRECTIVE).map(|directive| (directive.as_str(), directive)) {
            None => plain.push(item),
            Some((Some("delete"), _)) => {
                let wanted = fields.get(key).ok_or_else(|| StrategicPatchError::no_key(fields, key))?;
                original.retain(|item| item.get(key) != Some(wanted));
            }
            Some((Some("replace"), _)) => replaces = true,
            Some((Some("merge"), _)) => {
                let text = "merging lists cannot yet be specified in the patch";
                return Err(StrategicPatchError::Unfit(text.to_owned()));
            }
            Some((_, directive)) => return Err(StrategicPatchError::unknown_directive(directive, fields)),
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (original, plain) })
}

/// Merges each item of the patch into the one with the same key, or adds it.
///
/// Source: apimachinery `strategicpatch.mergeSliceWithoutSpecialElements`.
fn merge_items(
    mut merged: Vec<Value>,
    patch: &[Value],
    facts: Facts,
    key: &str,
) -> Result<Vec<Value>, StrategicPatchError> {
    for item in patch {
        let Value::Object(fields) = item else { return Err(StrategicPatchError::wrong_type(fmt::MAP, item)) };
        let wanted = fields.get(key).ok_or_else(|| StrategicPatchError::no_key(fields, key))?;
        let known =
            merged.iter_mut().filter_map(Value::as_object_mut).find(|item| item.get(key) == Some(wanted));
        match known {
            Some(known) => *known = map::merge(std::mem::take(known), fields.clone(), facts)?,
            // The object is read into Go's types afterwards, which know neither nulls nor directives.
            None => merged.extend(as_new(item.clone())),
        }
    }
    Ok(merged)
}

/// The key of an item.
pub(super) fn key_of<'a>(item: &'a Value, key: &str) -> Result<&'a Value, StrategicPatchError> {
    let fields: &Map = item.as_object().ok_or_else(|| StrategicPatchError::wrong_type(fmt::MAP, item))?;
    fields.get(key).ok_or_else(|| StrategicPatchError::no_key(fields, key))
}

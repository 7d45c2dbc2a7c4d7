//! In which order the items of a merged list stand.

use super::{
    error::StrategicPatchError,
    facts::Facts,
    list::{self, are_maps, key_of},
    map::{DIRECTIVE, ORDER_PREFIX, as_new, without_prefix},
};
use crate::{
    error::fmt,
    value::{Key, Map, Value},
};

/// Merges the lists of which a patch gives the order, and takes them and the orders out of the patch.
///
/// Source: apimachinery `strategicpatch.mergePatchIntoOriginal`.
pub(super) fn apply(original: &mut Map, patch: &mut Map, facts: Facts) -> Result<(), StrategicPatchError> {
    let directives: Vec<Key> = patch.keys().filter(|name| name.starts_with(ORDER_PREFIX)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.remove(&directive) else { continue };
        let wrong = |found: &Value| StrategicPatchError::wrong_type(fmt::LIST, found);
        let Value::Array(order) = order else { return Err(wrong(&order)) };
        let Some(name) = without_prefix(&directive, ORDER_PREFIX, "setElementOrder list")? else { continue };
        let (strategy, below) = facts.field(name);
        let list = |value: Option<Value>| match value {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(wrong(&other)),
        };
        let (before, changes) = (list(original.get(name).cloned())?, list(patch.remove(name))?);
        check(changes.as_deref().unwrap_or_default(), &order, strategy.key)?;
        let all: (&[Value], &[Value]) =
            (before.as_deref().unwrap_or_default(), changes.as_deref().unwrap_or_default());
        let merged = match (&before, &changes) {
            (None, None) => continue,
            (Some(before), None) => before.clone(),
            (None, Some(changes)) => changes.iter().cloned().filter_map(as_new).collect(),
            (Some(before), Some(changes)) if strategy.merges => {
                list::merge(before.clone(), changes.clone(), below, strategy.key, false)?
            }
            (Some(_), Some(changes)) => changes.clone(),
        };
        let key = are_maps(all.0, all.1)?.then_some(strategy.key);
        let arranged = arrange(merged, &order, all.0, key)?;
        original.insert(name.into(), arranged.into());
    }
    Ok(())
}

/// Puts the items that `order` names into this order, and the others among them, as near to where they were as can be.
///
/// Source: apimachinery `strategicpatch.normalizeElementOrder`.
pub(super) fn arrange(
    items: Vec<Value>,
    order: &[Value],
    before: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, StrategicPatchError> {
    if let Some(key) = key {
        items.iter().chain(order).chain(before).try_for_each(|item| key_of(item, key).map(|_| ()))?;
    }
    let identity = |item: &Value| key.map_or(item, |key| &item[key]).clone();
    let place =
        |list: &[Value], item: &Value| list.iter().position(|other| identity(other) == identity(item));
    let (mut ordered, mut others): (Vec<Value>, Vec<Value>) =
        items.into_iter().partition(|item| place(order, item).is_some());
    ordered.sort_by_key(|item| place(order, item));
    others.sort_by_key(|item| place(before, item));
    Ok(interleave(others, ordered, |item| place(before, item)))
}

/// Merges two lists whose own orders stay. An item of the left one goes before the first item of the right one that
/// stood behind it.
///
/// Source: apimachinery `strategicpatch.mergeSortedSlice`.
fn interleave(left: Vec<Value>, right: Vec<Value>, place: impl Fn(&Value) -> Option<usize>) -> Vec<Value> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    loop {
        let is_left = match (left.peek(), right.peek()) {
            (None, None) => return merged,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(left), Some(right)) => {
                place(left).zip(place(right)).is_some_and(|(left, right)| left < right)
            }
        };
        merged.extend(if is_left { left.next() } else { right.next() });
    }
}

/// The items of a patch stand in the order that it gives.
///
/// Source: apimachinery `strategicpatch.validatePatchWithSetOrderList`.
fn check(patch: &[Value], order: &[Value], key: &str) -> Result<(), StrategicPatchError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut wanted = order.iter();
    for item in patch.iter().filter(|item| item.get(DIRECTIVE).is_none()) {
        loop {
            let Some(next) = wanted.next() else {
                let (patch, order) = (fmt::list(patch), fmt::list(order));
                let text = format!(
                    "The order in patch list:\n{patch}\n doesn't match {ORDER_PREFIX} list:\n{order}\n"
                );
                return Err(StrategicPatchError::Unfit(text));
            };
            let is_next =
                if key.is_empty() { item == next } else { key_of(item, key)? == key_of(next, key)? };
            if is_next {
                break;
            }
        }
    }
    Ok(())
}

//! Lists whose items have to differ.

use std::collections::HashMap;

use super::node::{ListType, Schema};
use crate::{
    error::FieldError,
    value::{Map, Path, Value},
};

impl Schema {
    /// What occurs twice in the sets of an object, and the keys that occur twice in its lists of keyed items.
    ///
    /// Source: apiextensions `schema/listtype.ValidateListSetsAndMaps`.
    pub(crate) fn duplicates(&self, object: &Map) -> Vec<FieldError> {
        let mut problems = Vec::new();
        self.walk(object, &mut |value, node, path| {
            let Value::Array(items) = value else { return };
            match &node.list {
                ListType::Atomic => {}
                ListType::Set => problems.extend(
                    repeated(items.iter())
                        .map(|index| FieldError::duplicate(&path.index(index).field(), &items[index])),
                ),
                ListType::Map(keys) => problems.extend(repeated_keys(items, keys, path)),
            }
        });
        problems
    }
}

/// The keys of an item: those of its fields that tell it apart from others.
pub(super) fn keys_of(item: &Value, keys: &[String]) -> Value {
    let found = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Object(found.collect())
}

fn repeated_keys(items: &[Value], keys: &[String], path: &Path<'_>) -> Vec<FieldError> {
    let no_item = |item: &&Value| !item.is_object() && !item.is_null();
    if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| no_item(item)) {
        let detail = "must be an object for an array of list-type map";
        return vec![FieldError::invalid(&path.index(index).field(), Some(item), detail)];
    }
    let of_items: Vec<Value> = items.iter().map(|item| keys_of(item, keys)).collect();
    let duplicate = |index: usize| FieldError::duplicate(&path.index(index).field(), &of_items[index]);
    repeated(of_items.iter()).map(duplicate).collect()
}

/// Where values stand that have occurred once before.
fn repeated<'a>(values: impl Iterator<Item = &'a Value>) -> impl Iterator<Item = usize> {
    let mut seen: HashMap<&Value, usize> = HashMap::new();
    let mut found = Vec::new();
    for (index, value) in values.enumerate() {
        let times = seen.entry(value).or_default();
        *times += 1;
        if *times == 2 {
            found.push(index);
        }
    }
    found.into_iter()
}

//! Places in a value, by JSON pointer, with the indexes that evanphx/json-patch allows.

use thiserror::Error;

use crate::value::{Map, Value};

/// An object or array.
pub(super) enum Container<'a> {
    Fields(&'a Map),
    Items(&'a [Value]),
}

/// A place in an object or array to write to. There need not be anything yet.
pub(super) struct Place<'a> {
    pub(super) key: String,
    container: &'a mut Value,
}

/// Why there is no such place, in the words of evanphx/json-patch.
#[derive(Debug, Error)]
pub(super) enum PointerError {
    #[error("Unable to remove nonexistent key: {0}: missing value")]
    UnknownKey(String),
    #[error("Unable to access invalid index: {0}: invalid index referenced")]
    BeyondEnd(i64),
    #[error("strconv.Atoi: parsing {0:?}: {1}")]
    NotANumber(String, &'static str),
    #[error("value was not a proper array index: '{0}': {1}")]
    ImproperIndex(String, Box<PointerError>),
}

impl PointerError {
    pub(super) const MISSING: &str = "missing value";
}

/// The container that `path` leads into, and the key in it.
pub(super) fn locate<'a>(root: &'a Value, path: &str) -> Option<(Container<'a>, String)> {
    let (parents, key) = split(path)?;
    let mut value = root;
    for parent in parents {
        value = Container::of(value)?.get(&parent).ok()??;
    }
    Some((Container::of(value)?, key))
}

/// As [`locate`], to write to.
pub(super) fn locate_mut<'a>(root: &'a mut Value, path: &str) -> Option<Place<'a>> {
    let (parents, key) = split(path)?;
    let mut value = root;
    for parent in parents {
        value = match value {
            Value::Object(fields) => fields.get_mut(&parent)?,
            Value::Array(items) => {
                let index = existing(&parent, items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    (value.is_object() || value.is_array()).then_some(Place { key, container: value })
}

impl<'a> Container<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Object(fields) => Some(Self::Fields(fields)),
            Value::Array(items) => Some(Self::Items(items)),
            _ => None,
        }
    }

    /// What stands at `key`. An absent field is nothing; an absent item is an error.
    pub(super) fn get(&self, key: &str) -> Result<Option<&'a Value>, PointerError> {
        match self {
            Self::Fields(fields) => Ok(fields.get(key)),
            Self::Items(items) => Ok(items.get(existing(key, items.len())?)),
        }
    }
}

impl Place<'_> {
    /// Sets a field, or puts an item before the one that stands there.
    pub(super) fn add(self, value: Value) -> Result<(), PointerError> {
        match self.container {
            Value::Array(items) if self.key == "-" => items.push(value),
            Value::Array(items) => {
                let index = number(&self.key)
                    .map_err(|error| PointerError::ImproperIndex(self.key.clone(), Box::new(error)))?;
                items.insert(within(index, items.len() + 1)?, value);
            }
            fields => set_field(fields, self.key, value),
        }
        Ok(())
    }

    /// Sets a field, or the item that stands there.
    pub(super) fn set(self, value: Value) -> Result<(), PointerError> {
        match self.container {
            Value::Array(items) => {
                let index = existing(&self.key, items.len())?;
                items[index] = value;
            }
            fields => set_field(fields, self.key, value),
        }
        Ok(())
    }

    /// Takes out what stands there.
    pub(super) fn remove(self) -> Result<Value, PointerError> {
        let removed = match self.container {
            Value::Array(items) => Some(items.remove(existing(&self.key, items.len())?)),
            Value::Object(fields) => fields.remove(&self.key),
            _ => None,
        };
        removed.ok_or(PointerError::UnknownKey(self.key))
    }
}

fn set_field(container: &mut Value, key: String, value: Value) {
    if let Value::Object(fields) = container {
        fields.insert(key.into(), value);
    }
}

/// The parents and the key of a pointer; nothing for one without a slash. What stands before the first slash is
/// not looked at.
fn split(path: &str) -> Option<(impl Iterator<Item = String>, String)> {
    let (_, rest) = path.split_once('/')?;
    let (parents, key) = rest.rsplit_once('/').map_or((None, rest), |(parents, key)| (Some(parents), key));
    let parents = parents.into_iter().flat_map(|parents| parents.split('/').map(unescape));
    Some((parents, unescape(key)))
}

fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// The index of an item that is there. Negative ones count from the end.
fn existing(key: &str, length: usize) -> Result<usize, PointerError> {
    within(number(key)?, length)
}

fn within(index: i64, length: usize) -> Result<usize, PointerError> {
    let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    let place = if index < 0 { length.checked_sub(distance) } else { Some(distance) };
    place.filter(|place| *place < length).ok_or(PointerError::BeyondEnd(index))
}

/// Source: Go's `strconv.Atoi`.
fn number(key: &str) -> Result<i64, PointerError> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    key.parse().map_err(|error: std::num::ParseIntError| {
        let overflow = matches!(error.kind(), PosOverflow | NegOverflow);
        let reason = if overflow { "value out of range" } else { "invalid syntax" };
        PointerError::NotANumber(key.to_owned(), reason)
    })
}

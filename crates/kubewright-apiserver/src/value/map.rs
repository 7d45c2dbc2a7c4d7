//! The fields of an object.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{Hash, Hasher},
    mem,
};

use super::{Key, Value, entry::Entry, iter::Iter};

/// The fields of an object, in the order of their names.
#[derive(Clone, Default)]
pub(crate) struct Map(pub(super) Fields);

/// How the fields are kept.
#[derive(Clone)]
pub(super) enum Fields {
    /// In order. This is what is decoded, whatever its length: nothing is smaller.
    Sorted(Box<[(Key, Value)]>),
    /// What has many fields and is changed field by field. A thousand operations of a patch, each of which moves half of a
    /// vector of a hundred thousand fields, would take seconds.
    #[allow(clippy::box_collection, reason = "it is rare, and all maps would be larger")]
    Tree(Box<BTreeMap<Key, Value>>),
}

impl Map {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Fields::Sorted(fields) => fields.len(),
            Fields::Tree(fields) => fields.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        match &self.0 {
            Fields::Sorted(fields) => Some(&fields[find(fields, name).ok()?].1),
            Fields::Tree(fields) => fields.get(name),
        }
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        match &mut self.0 {
            Fields::Sorted(fields) => Some(&mut fields[find(fields, name).ok()?].1),
            Fields::Tree(fields) => fields.get_mut(name),
        }
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets a field, and returns what it was before.
    pub(crate) fn insert(&mut self, key: Key, value: Value) -> Option<Value> {
        match &mut self.0 {
            Fields::Sorted(fields) => match find(fields, &key) {
                Ok(index) => Some(mem::replace(&mut fields[index].1, value)),
                Err(index) if fields.len() < MANY => {
                    change(fields, |fields| {
                        fields.reserve_exact(1);
                        fields.insert(index, (key, value));
                    });
                    None
                }
                Err(_) => self.tree().insert(key, value),
            },
            Fields::Tree(fields) => fields.insert(key, value),
        }
    }

    /// Takes a field away, and returns what it was.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Value> {
        match &mut self.0 {
            Fields::Sorted(fields) => {
                let index = find(fields, name).ok()?;
                if fields.len() < MANY {
                    Some(change(fields, |fields| fields.remove(index)).1)
                } else {
                    self.tree().remove(name)
                }
            }
            Fields::Tree(fields) => fields.remove(name),
        }
    }

    /// The place of a field, there or not.
    pub(crate) fn entry(&mut self, key: impl Into<Key>) -> Entry<'_> {
        Entry::new(self, key.into())
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Key, &mut Value) -> bool) {
        match &mut self.0 {
            Fields::Sorted(fields) => {
                change(fields, |fields| fields.retain_mut(|(key, value)| keep(key, value)));
            }
            Fields::Tree(fields) => fields.retain(keep),
        }
    }

    pub(crate) fn iter(&self) -> Iter<'_> {
        self.into_iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&Key, &mut Value)> {
        self.into_iter()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.iter().map(|(_, value)| value)
    }

    /// The fields as a tree, from now on.
    fn tree(&mut self) -> &mut BTreeMap<Key, Value> {
        if let Fields::Sorted(fields) = &mut self.0 {
            self.0 = Fields::Tree(Box::new(mem::take(fields).into_iter().collect()));
        }
        match &mut self.0 {
            Fields::Tree(fields) => fields,
            Fields::Sorted(_) => unreachable!("the lines above have made it a tree"),
        }
    }
}

/// From how many fields on a map that is changed becomes a tree. A vector of as many is moved in a microsecond.
pub(super) const MANY: usize = 256;

fn find(fields: &[(Key, Value)], name: &str) -> Result<usize, usize> {
    fields.binary_search_by(|(key, _)| key.as_str().cmp(name))
}

/// Changes fields that are kept without spare room.
fn change<T>(fields: &mut Box<[(Key, Value)]>, change: impl FnOnce(&mut Vec<(Key, Value)>) -> T) -> T {
    let mut list = mem::take(fields).into_vec();
    let result = change(&mut list);
    *fields = list.into_boxed_slice();
    result
}

impl Default for Fields {
    fn default() -> Self {
        Self::Sorted(Box::default())
    }
}

impl<K: Into<Key>, V: Into<Value>> FromIterator<(K, V)> for Map {
    /// Of fields with the same name the last one counts. Takes as long as sorting does, in whatever order they come.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        let fields = fields.into_iter().map(|(key, value)| (key.into(), value.into()));
        let mut fields: Vec<(Key, Value)> = fields.collect();
        if !fields.is_sorted_by(|(a, _), (b, _)| a < b) {
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            fields.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    mem::swap(later, earlier);
                }
                same
            });
        }
        Self(Fields::Sorted(fields.into_boxed_slice()))
    }
}

impl<K: Into<Key>, V: Into<Value>> Extend<(K, V)> for Map {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, fields: I) {
        for (key, value) in fields {
            self.insert(key.into(), value.into());
        }
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Map {}

impl Hash for Map {
    /// The same for the same fields, however they are kept.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|field| field.hash(state));
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}

//! Walking through the fields of a map, in the order of their names.

use std::{collections::btree_map, slice, vec};

use super::{
    Key, Map, Value,
    map::Fields::{Sorted, Tree},
};

/// The fields of a map.
#[derive(Debug, Clone)]
pub(crate) struct Iter<'a>(Inner<slice::Iter<'a, (Key, Value)>, btree_map::Iter<'a, Key, Value>>);

/// The fields of a map, to be changed.
#[derive(Debug)]
pub(crate) struct IterMut<'a>(Inner<slice::IterMut<'a, (Key, Value)>, btree_map::IterMut<'a, Key, Value>>);

/// The fields of a map that is taken apart.
#[derive(Debug)]
pub(crate) struct IntoIter(Inner<vec::IntoIter<(Key, Value)>, btree_map::IntoIter<Key, Value>>);

#[derive(Debug, Clone)]
enum Inner<S, T> {
    Sorted(S),
    Tree(T),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Key, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Inner::Sorted(fields) => fields.next().map(|(key, value)| (key, value)),
            Inner::Tree(fields) => fields.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Inner::Sorted(fields) => fields.size_hint(),
            Inner::Tree(fields) => fields.size_hint(),
        }
    }
}

impl<'a> Iterator for IterMut<'a> {
    type Item = (&'a Key, &'a mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Inner::Sorted(fields) => fields.next().map(|(key, value)| (&*key, value)),
            Inner::Tree(fields) => fields.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Inner::Sorted(fields) => fields.size_hint(),
            Inner::Tree(fields) => fields.size_hint(),
        }
    }
}

impl Iterator for IntoIter {
    type Item = (Key, Value);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Inner::Sorted(fields) => fields.next(),
            Inner::Tree(fields) => fields.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Inner::Sorted(fields) => fields.size_hint(),
            Inner::Tree(fields) => fields.size_hint(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a Key, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        Iter(match &self.0 {
            Sorted(fields) => Inner::Sorted(fields.iter()),
            Tree(fields) => Inner::Tree(fields.iter()),
        })
    }
}

impl<'a> IntoIterator for &'a mut Map {
    type Item = (&'a Key, &'a mut Value);
    type IntoIter = IterMut<'a>;

    fn into_iter(self) -> IterMut<'a> {
        IterMut(match &mut self.0 {
            Sorted(fields) => Inner::Sorted(fields.iter_mut()),
            Tree(fields) => Inner::Tree(fields.iter_mut()),
        })
    }
}

impl IntoIterator for Map {
    type Item = (Key, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(match self.0 {
            Sorted(fields) => Inner::Sorted(fields.into_vec().into_iter()),
            Tree(fields) => Inner::Tree(fields.into_iter()),
        })
    }
}

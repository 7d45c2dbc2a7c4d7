//! How one watch of a controller differs from the others.

use std::fmt;

use crate::predicate::Predicate;

/// Options of one watch.
#[must_use]
pub struct WatchOptions<K> {
    pub(super) predicates: Vec<Box<dyn Predicate<K>>>,
}

impl<K> WatchOptions<K> {
    /// Every event goes to the handler.
    pub fn new() -> Self {
        Self { predicates: Vec::new() }
    }

    /// Only events that `predicate` passes, and every other that was given.
    pub fn with_predicate(mut self, predicate: impl Predicate<K>) -> Self {
        self.predicates.push(Box::new(predicate));
        self
    }
}

impl<K> Default for WatchOptions<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for WatchOptions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchOptions").field("predicates", &self.predicates.len()).finish()
    }
}

/// Options of a watch on owned objects.
#[derive(Debug)]
#[must_use]
pub struct OwnsOptions<K> {
    pub(super) watch: WatchOptions<K>,
    pub(super) every_owner: bool,
}

impl<K> OwnsOptions<K> {
    /// Every event goes to the owner that controls the object.
    pub fn new() -> Self {
        Self { watch: WatchOptions::new(), every_owner: false }
    }

    /// Only events that `predicate` passes, and every other that was given.
    pub fn with_predicate(mut self, predicate: impl Predicate<K>) -> Self {
        self.watch = self.watch.with_predicate(predicate);
        self
    }

    /// Events go to every owner of the kind, controller or not.
    pub fn match_every_owner(mut self) -> Self {
        self.every_owner = true;
        self
    }
}

impl<K> Default for OwnsOptions<K> {
    fn default() -> Self {
        Self::new()
    }
}

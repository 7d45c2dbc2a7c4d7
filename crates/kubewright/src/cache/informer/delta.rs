//! What a subscriber hears.

use std::sync::Arc;

use super::told::Told;
use crate::object::ObjectKey;

/// A change of one object, or the end of the initial list.
#[derive(Debug, Clone)]
pub(crate) enum Delta {
    /// The object was not there. `is_in_initial_list`: it had been there before the subscriber came or the informer synced.
    Added { new: Arc<Told>, is_in_initial_list: bool },
    /// The object has another state; it may even be another object under the same name (another uid).
    Updated { old: Arc<Told>, new: Arc<Told> },
    /// The object is gone. `final_state_unknown`: nobody saw it go, and `last` is what it was when last seen.
    Deleted { last: Arc<Told>, final_state_unknown: bool },
    /// The initial list is complete: everything that existed has been heard of.
    Synced,
}

impl Delta {
    pub(super) fn is_update(&self) -> bool {
        matches!(self, Self::Updated { .. })
    }

    /// Of which object, if of any.
    pub(super) fn key(&self) -> Option<&ObjectKey> {
        match self {
            Self::Added { new, .. } | Self::Updated { new, .. } => Some(new.key()),
            Self::Deleted { last, .. } => Some(last.key()),
            Self::Synced => None,
        }
    }

    /// Takes in the next change of the same object, if the state between the two says nothing that the later one does not say, too. True if it did;
    /// `next` is what is left over then.
    pub(super) fn absorb(&mut self, next: &mut Self) -> bool {
        match (self, next) {
            (Self::Added { new, .. } | Self::Updated { new, .. }, Self::Updated { new: later, .. })
                if new.concerns_the_same(later) =>
            {
                std::mem::swap(new, later);
                true
            }
            _ => false,
        }
    }
}

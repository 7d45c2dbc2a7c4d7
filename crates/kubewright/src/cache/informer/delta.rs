//! What a subscriber hears.

use std::sync::Arc;

use super::told::Told;

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

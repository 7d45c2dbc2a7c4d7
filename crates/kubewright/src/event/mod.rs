//! What happened to an object: the input of predicates and handlers.

mod observed;

pub use observed::{AnyObject, Observed};

/// A change of one object, or a nudge about it.
///
/// Source: controller-runtime `event.Typed{Create,Update,Delete,Generic}Event`.
#[derive(Debug)]
pub enum Event<K> {
    /// The object is new to the cache.
    Create {
        /// The object.
        object: Observed<K>,
        /// It existed before the watch began: part of the first list.
        is_in_initial_list: bool,
    },
    /// The object has changed. Deleted and created anew between two looks is also a change: the uids differ.
    Update {
        /// Before.
        object_old: Observed<K>,
        /// After.
        object_new: Observed<K>,
    },
    /// The object is gone.
    Delete {
        /// Its last state.
        object: Observed<K>,
        /// Nobody saw it go (the watch was down): `object` is its last *known* state.
        delete_state_unknown: bool,
    },
    /// Something outside the cluster says that the object should be looked at.
    Generic {
        /// The object.
        object: Observed<K>,
    },
}

impl<K> Event<K> {
    /// The object as it is now; for a deletion, as it was.
    pub fn object(&self) -> &Observed<K> {
        match self {
            Self::Create { object, .. } | Self::Delete { object, .. } | Self::Generic { object } => object,
            Self::Update { object_new, .. } => object_new,
        }
    }

    /// The object as it was before an update.
    pub fn object_old(&self) -> Option<&Observed<K>> {
        match self {
            Self::Update { object_old, .. } => Some(object_old),
            _ => None,
        }
    }

    /// The event says nothing new: it is part of the initial list, or the object is the same as before. Handlers enqueue such requests
    /// with low priority.
    ///
    /// Source: controller-runtime `handler.LowPriority`.
    pub fn is_unchanged(&self) -> bool {
        match self {
            Self::Create { is_in_initial_list, .. } => *is_in_initial_list,
            Self::Update { object_old, object_new } => {
                object_old.resource_version().is_some()
                    && object_old.resource_version() == object_new.resource_version()
            }
            Self::Delete { .. } | Self::Generic { .. } => false,
        }
    }

    /// The same event, for predicates that look at no more than metadata.
    pub fn any(&self) -> Event<AnyObject> {
        match self {
            Self::Create { object, is_in_initial_list } => {
                Event::Create { object: object.any(), is_in_initial_list: *is_in_initial_list }
            }
            Self::Update { object_old, object_new } => {
                Event::Update { object_old: object_old.any(), object_new: object_new.any() }
            }
            Self::Delete { object, delete_state_unknown } => {
                Event::Delete { object: object.any(), delete_state_unknown: *delete_state_unknown }
            }
            Self::Generic { object } => Event::Generic { object: object.any() },
        }
    }
}

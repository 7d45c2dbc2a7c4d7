//! What an object is, before anybody stores, watches or writes it: its key, its kind, its form.

mod key;
mod kind;

pub use key::{Keyed, ObjectKey};
pub use kind::{Form, Kind, Object, Scope, View};
pub(crate) use kind::{group_of, scope_of};

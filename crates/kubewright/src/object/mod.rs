//! What an object is, before anybody stores, watches or writes it: its key, its kind, its form.

mod key;
mod kind;

pub use key::ObjectKey;
pub(crate) use kind::group_of;
pub use kind::{Form, Kind, Object, Scope, View};

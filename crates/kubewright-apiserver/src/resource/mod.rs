//! The handlers: what each verb does to a resource, whatever its kind.

mod admission;
mod bootstrap;
mod call;
mod create;
mod definition;
mod delete;
mod effects;
mod expiry;
mod list;
mod metadata;
mod namespace;
mod patch;
mod scale;
mod service_address;
mod update;
mod validation;
mod watch;

pub(crate) use bootstrap::bootstrap;
pub(crate) use call::{Call, no_such_path};
pub(crate) use definition::Settling;
pub(crate) use expiry::Expiry;
pub(crate) use service_address::ServiceAddresses;

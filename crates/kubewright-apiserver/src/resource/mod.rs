//! The handlers: what each verb does to a resource, whatever its kind.

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
mod watch;

pub(crate) use call::Call;
pub(crate) use definition::Settling;
pub(crate) use expiry::Expiry;
pub(crate) use namespace::create_initial as create_initial_namespaces;
pub(crate) use service_address::ServiceAddresses;

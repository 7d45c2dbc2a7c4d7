//! What happens to an object, without HTTP: each verb in upstream's order, and what the server does on its own.

mod admission;
mod binding;
mod bootstrap;
mod cluster;
mod continue_token;
mod create;
mod definition;
mod delete;
mod effects;
mod eviction;
mod expiry;
mod filter;
mod list;
mod metadata;
mod namespace;
mod resource;
mod rewrite;
mod scale;
mod service_token;
mod update;
mod validation;
mod watch;

pub(crate) use cluster::{Cluster, ClusterOptions};
pub(crate) use delete::Deletion;
pub(crate) use filter::Filter;
pub(crate) use list::Page;
pub(crate) use resource::{Resource, no_such_path};
pub(crate) use scale::Scale;
pub(crate) use update::Missing;
pub(crate) use watch::{Watch, WatchEvent};

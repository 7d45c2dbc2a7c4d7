//! The verbs as requests ask for them, a file each: options, the body at the version of the path, the registry, the reply.

mod binding;
mod call;
mod create;
mod decode;
mod delete;
mod delete_collection;
mod eviction;
mod get;
mod list;
mod patch;
mod scale;
mod service_token;
mod update;
mod watch;

pub(crate) use call::Call;

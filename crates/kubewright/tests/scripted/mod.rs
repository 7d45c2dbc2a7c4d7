//! An API server that does what a script says: replicas that lag behind, bodies that break at any byte, silence, missing bookmarks,
//! compacted and restored histories.
//!
//! It keeps the history of a cluster and answers as kube-apiserver would, unless a [`Plan`] says otherwise. It needs no socket and no
//! task of its own, so it works on paused time. Unit tests find it as `crate::scripted`, integration tests as `mod scripted`.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::struct_excessive_bools,
    missing_debug_implementations,
    reason = "test support, of which each test uses a part"
)]

mod answer;
mod body;
mod history;
mod plan;
mod server;
mod watches;

pub use history::{History, Key};
pub use plan::{Plan, Streaming};
pub use server::{Asked, Server};

//! A kind in two versions: a `Backup` has its schedule as one text in v1, which is stored, and in fields in v2.
//!
//! - `v1` and `v2` are the versions, `schedule` how one becomes the other.
//! - `webhook` serves that to the API server, and `definition` says so to it.

mod definition;
mod schedule;
pub mod v1;
pub mod v2;
pub mod webhook;

pub use definition::definition;

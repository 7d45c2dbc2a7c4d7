//! The versioned map: revisions, snapshots, the event log and its watchers.
//!
//! This room knows bytes and keys. It has never heard of kinds or requests:
//! [`crate::registry`] decides what to write, and the room decides in which order it happened.
//!
//! - One revision counter serves everything that is stored, as in etcd.
//! - A write names the revision it has read (compare and swap), or that nothing may be there; a new object may
//!   also name others that have to be as they were read (guards).
//! - Each prefix keeps a log of its events, bounded in number, in bytes over all prefixes, and in age. A watcher
//!   reads the log at its own pace; it never holds a writer up, and when the log has moved past it, it is told so
//!   ([`Expired`]).
//! - A map of the past is made outside the lock, and kept while it is read page by page.

mod derived;
mod log;
mod state;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use derived::Derived;
pub(crate) use log::{Change, Event};
pub(crate) use state::{Guard, Key, Limits, Mismatch, NotCreated, Prefix, Snapshot};
pub(crate) use store::{Store, Watcher};

//! Logs for people, or for machines.
//!
//! It comes with the feature `tracing-subscriber`, which is on by default; then [`init`] is all that an operator needs. Without the
//! feature, the operator installs a `tracing` subscriber of its own.

mod json;
mod object;
mod subscriber;
mod time;

pub use self::{
    object::{LoggedObject, object},
    subscriber::{LevelFilter, LogFormat, LogOptions, init, init_at, init_with},
    time::TimeFormat,
};

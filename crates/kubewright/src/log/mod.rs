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
    subscriber::{
        Layer, LevelFilter, LogFormat, LogOptions, Registry, init, init_at, init_with, init_with_layer,
    },
    time::TimeFormat,
};

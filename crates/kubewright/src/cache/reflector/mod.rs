//! Follows one kind on the API server: a list, then a watch, for ever, and hands every object's bytes to a [`Sink`].
//!
//! - `course` decides what to ask next from how the last request ended; it is pure.
//! - `request` writes the requests, `pieces` reads the answer, `lines` cuts it into lines, `event` reads what a line says.
//! - `follow` is the task that moves bytes between the API server and the sink.

mod backoff;
mod course;
mod event;
mod failure;
mod follow;
mod lines;
mod pieces;
mod request;

pub(crate) use failure::Failure;
pub(crate) use follow::{Reflector, Sink};
pub(crate) use request::Target;

//! Follows one kind on the API server: a list, then a watch, for ever, and hands every object's bytes to a [`Sink`].
//!
//! - `course` decides what to ask next from how the last request ended; it is pure.
//! - `request` writes the requests, `pieces` reads the answer, `lines` cuts it into lines, `event` reads what a line says.
//! - `list_page` reads a page of a list; `initial_events` says how long a streaming list may go on without its end.
//! - `follow` is the task that moves bytes between the API server and the sink.

mod backoff;
mod course;
mod event;
mod failure;
mod follow;
mod initial_events;
mod lines;
mod list_page;
mod pieces;
mod request;

pub(crate) use course::Verdict;
pub(crate) use failure::Failure;
pub(crate) use follow::{Listed, Reflector, Sink};
pub(crate) use request::Target;

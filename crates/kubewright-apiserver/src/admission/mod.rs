//! Admission: webhooks that change an object before it is stored, and webhooks that refuse it.
//!
//! Which are called is read off the configurations in the store. Match conditions need CEL, which this server does not evaluate; configurations with some
//! are refused. There is no audit log, so that audit annotations go nowhere.

mod attributes;
mod hook;
mod hooks;
mod matching;
mod mutating;
mod refusal;
mod review;
mod rule;
mod validating;

pub(crate) use attributes::{Attributes, Operation, View};
pub(crate) use hooks::Admission;

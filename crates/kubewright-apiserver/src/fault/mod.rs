//! The plan of faults: what goes wrong, with which requests, and how often.
//!
//! Each request asks the plan once, when it arrives, and carries the verdict along: a delay and an answer of the
//! plan's own come before anything is done, a lost answer comes after the commit, and a watch is cut after so many
//! events, or when an outage begins.

mod plan;

pub(crate) use plan::Verdict;
pub use plan::{Fault, FaultHandle, Faults};

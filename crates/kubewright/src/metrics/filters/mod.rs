//! Who may read metrics: whoever the API server knows, and lets.

mod authentication;
mod authorization;
mod expiring;
mod gate;
mod review;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests;

pub(crate) use self::gate::{Gate, Guarded};

//! Webhooks, called over TLS as the API server calls them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, reason = "a test is one crate")]

mod admission;
mod authentication;
mod certificates;
mod configurations;
mod conversion;
mod hostile;
mod house;
mod server;

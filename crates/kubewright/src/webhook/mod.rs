//! What the API server asks an operator before it stores an object.
//!
//! A [`WebhookServer`] listens on every replica.

mod metrics;
pub mod server;

pub use server::{WebhookServer, WebhookServerOptions};

//! What the API server asks an operator before it stores an object.
//!
//! A [`WebhookServer`] listens on every replica; a [`Webhook`] declares what it answers for one kind.

pub mod admission;
mod builder;
mod certificates;
mod metrics;
pub mod server;

pub use builder::Webhook;
pub use certificates::{ManageError, SelfManagedCertificates, WebhookTarget};
pub use server::{WebhookServer, WebhookServerOptions};

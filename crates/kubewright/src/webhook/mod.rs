//! What the API server asks an operator before it stores an object.
//!
//! A [`WebhookServer`] listens on every replica; a [`Webhook`] declares what it answers for one kind.

pub mod admission;
pub mod authentication;
mod builder;
mod certificates;
mod configurations;
pub mod conversion;
mod declaration;
mod metrics;
pub mod server;

pub use builder::Webhook;
pub use certificates::{ManageError, SelfManagedCertificates, WebhookTarget};
pub use configurations::{WebhookAddress, WebhookConfigurations};
pub use declaration::{FailurePolicy, MatchPolicy, SideEffects, WebhookDeclaration};
pub use server::{WebhookServer, WebhookServerOptions};

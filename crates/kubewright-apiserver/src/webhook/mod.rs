//! Webhooks as the server calls them: where they are, who vouches for them, one question at a time. What is asked is for others.

mod call;
mod caller;
mod endpoint;
mod services;
mod target;

pub(crate) use caller::Caller;
pub(crate) use endpoint::Endpoint;
pub use services::{ServiceRoute, WebhookHandler};

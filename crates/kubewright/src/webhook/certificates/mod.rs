//! Certificates that webhooks make for themselves: a CA, what the server shows, and that the API server trusts it.

mod certificate;
mod contents;
mod error;
mod injection;
mod keeper;
#[cfg(test)]
mod lives;
mod options;
mod policy;
#[cfg(test)]
mod simulation;

pub use error::ManageError;
pub use injection::WebhookTarget;
pub(super) use keeper::Keeper;
pub use options::SelfManagedCertificates;

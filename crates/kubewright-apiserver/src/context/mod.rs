//! Who asks for what, and what the client is to be told beside the answer.

mod info;
mod query;
mod user;
mod warnings;

use std::sync::Arc;

pub use info::{RequestInfo, ResourceInfo, Verb};
pub(crate) use query::Query;
pub use user::UserInfo;
pub(crate) use warnings::Warnings;

use crate::clock::Clock;

/// What is known of a request beside the object that it is about. The door makes it, and each verb gets it.
///
/// Options, such as a dry run, are the business of the verbs, each of which has its own.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Who asks, or in whose name.
    pub(crate) user: UserInfo,
    pub(crate) info: RequestInfo,
    pub(crate) query: Query,
    /// What the client is told beside the answer.
    pub(crate) warnings: Warnings,
    pub(crate) clock: Arc<dyn Clock>,
}

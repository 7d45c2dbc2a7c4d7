//! Admission: what is changed in an object before it is stored, and what is refused.

mod chain;
mod defaulter;
mod endpoint;
mod finalizers;
mod handler;
mod patch;
mod request;
mod response;
mod validator;

pub use chain::Chain;
pub use defaulter::Defaulter;
pub(super) use defaulter::Defaulting;
pub(super) use endpoint::AdmissionEndpoint;
pub use handler::Handler;
pub use request::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};
pub use response::AdmissionResponse;
pub(super) use validator::Validating;
pub use validator::{Validator, Warnings};

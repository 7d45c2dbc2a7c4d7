//! What is said of a request that went wrong: a `Status`, the fields that are to blame, and texts as Go writes them.

mod field_error;
pub(crate) mod fmt;
mod named;
mod status;
pub(crate) mod strconv;

pub(crate) use field_error::FieldError;
pub(crate) use named::Named;
pub use status::Status;

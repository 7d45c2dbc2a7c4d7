//! The options of requests, from the query or from the body of a deletion.
//!
//! Each set of options is read as a whole before anything is done, and what upstream refuses is refused here.

mod delete;
mod list;
mod write;

pub(crate) use delete::{DeleteOptions, Preconditions};
pub(crate) use list::{ListOptions, VersionMatch, resource_version};
pub(crate) use write::{FieldValidation, WriteOptions};

use crate::error::FieldError;

/// Whether a dry run is asked for.
///
/// Source: apimachinery `validation.ValidateDryRun`.
fn dry_run(stages: &[String], errors: &mut Vec<FieldError>) -> bool {
    if stages.iter().any(|stage| stage != "All") {
        errors.push(FieldError::not_supported("dryRun", stages, &["All"]));
    }
    !stages.is_empty()
}

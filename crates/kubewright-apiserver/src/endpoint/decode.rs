//! From what a client has sent to an object of the kind, and what becomes of the fields that the kind does not know.

use super::call::Call;
use crate::{
    error::{FieldError, Status},
    object::Object,
    options::{FieldValidation, WriteOptions},
    schema::duplicate_fields,
    wire,
};

/// Decodes the body as an object of the kind.
///
/// # Errors
/// What is no object of the kind; in a strict write, also unknown fields and those that are there twice.
///
/// Source: apiserver `handlers.createHandler`, `UpdateResource`.
pub(super) fn whole(call: &Call, options: &WriteOptions) -> Result<Object, Status> {
    let mut object = wire::decode(&call.kind, &call.headers, &call.body)?;
    let problems = strict_problems(call, &mut object, options)?;
    if options.field_validation() == FieldValidation::Strict && !problems.is_empty() {
        return Err(cannot_be_handled(call, &strict_text(&problems)));
    }
    warn(call, options, &problems);
    Ok(object)
}

/// Does the same with an object that a patch has made.
///
/// Source: apiserver `handlers.jsonPatcher.applyPatchToCurrentObject`.
pub(super) fn patched(call: &Call, object: &mut Object, options: &WriteOptions) -> Result<(), Status> {
    let problems = strict_problems(call, object, options)?;
    if options.field_validation() == FieldValidation::Strict && !problems.is_empty() {
        let patch = String::from_utf8_lossy(&call.body);
        let error = FieldError::invalid("patch", Some(&patch.into()), &strict_text(&problems));
        return Err(Status::invalid_options("", &[error]));
    }
    warn(call, options, &problems);
    Ok(())
}

/// Drops what the kind does not know, and says what a strict reader would complain about.
fn strict_problems(call: &Call, object: &mut Object, options: &WriteOptions) -> Result<Vec<String>, Status> {
    let coerced = call.kind.strategy.coerce(object);
    let unknown = coerced.map_err(|error| cannot_be_handled(call, &error.to_string()))?;
    if options.field_validation() == FieldValidation::Ignore {
        return Ok(Vec::new());
    }
    let repeated = if call.kind.is_custom { duplicate_fields(&call.body) } else { Vec::new() };
    let repeated = repeated.into_iter().map(|field| format!("duplicate field \"{field}\""));
    Ok(repeated.chain(unknown.into_iter().map(|field| format!("unknown field \"{field}\""))).collect())
}

fn warn(call: &Call, options: &WriteOptions, problems: &[String]) {
    if options.field_validation() == FieldValidation::Warn {
        for problem in problems {
            call.context.warnings.add(problem);
        }
    }
}

fn strict_text(problems: &[String]) -> String {
    format!("strict decoding error: {}", problems.join(", "))
}

/// Source: apiserver `handlers.transformDecodeError`.
fn cannot_be_handled(call: &Call, problem: &str) -> Status {
    let (kind, version) = (&call.kind.kind, &call.kind.version);
    Status::bad_request(format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {problem}"))
}

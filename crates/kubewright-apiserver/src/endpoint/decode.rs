//! From what a client has sent to an object of the kind, and what becomes of the fields that the kind does not know.

use super::{call::Call, patch::Patch};
use crate::{
    error::{FieldError, Status},
    fields,
    kind::Subresource,
    object::Object,
    options::{FieldValidation, WriteOptions},
    schema::{AnyNames, strict_problems},
    wire,
};

/// Decodes the body as an object of the kind.
///
/// # Errors
/// What is no object of the kind; in a strict write, also unknown fields and those that are there twice.
///
/// Source: apiserver `handlers.createHandler`, `UpdateResource`.
pub(super) fn whole(call: &Call, options: &WriteOptions) -> Result<Object, Status> {
    let kind = &call.kind;
    let mut object = wire::decode(kind, &call.headers, &call.body)?;
    let unknown = kind.strategy.coerce(&mut object).map_err(|problem| cannot_be_handled(call, &problem))?;
    let problems = || {
        let is_json = wire::is_json(&call.headers);
        if is_json && !kind.is_custom {
            return fields::strict_problems(&call.body, &kind.api_version(), &kind.kind);
        }
        // What custom resources do not know is found once they are read.
        let repeated = if is_json { strict_problems(&call.body, AnyNames) } else { Vec::new() };
        repeated.into_iter().chain(unknown_fields(&unknown)).collect()
    };
    judge(call, options, problems, |text| cannot_be_handled(call, &text))?;
    Ok(object)
}

/// Decodes the body as what a subresource takes, which is an object of another built-in kind, of the same name.
///
/// # Errors
/// As [`whole`]; 400 for another name than that of the path, unless that is looked at later.
pub(super) fn part(call: &Call, part: &Subresource, options: &WriteOptions) -> Result<Object, Status> {
    let [group, version, name] = part.other_kind().ok_or_else(Status::method_not_allowed)?;
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let mut object = wire::decode_as(&api_version, name, &call.headers, &call.body)?;
    let refused = |problem: String| {
        Status::bad_request(format!(
            "{name} in version \"{version}\" cannot be handled as a {name}: {problem}"
        ))
    };
    let unknown = fields::coerce(&mut object).map_err(refused)?;
    let problems = || {
        if wire::is_json(&call.headers) {
            fields::strict_problems(&call.body, &api_version, name)
        } else {
            unknown_fields(&unknown).collect()
        }
    };
    judge(call, options, problems, refused)?;
    if object.name() != call.info.name && *part != Subresource::Token {
        return Err(Status::bad_request(format!("name in URL does not match name in {name} object")));
    }
    Ok(object)
}

/// Does the same with an object that a patch has made.
///
/// Source: apiserver `handlers.jsonPatcher.applyPatchToCurrentObject`, `applyPatchToObject`.
pub(super) fn patched(
    call: &Call,
    patch: &Patch,
    object: &mut Object,
    options: &WriteOptions,
) -> Result<(), Status> {
    // Messages show what the patch has made, before anything is dropped from it.
    let shown = patch.shown(object);
    let refused = |text: String| {
        let error = FieldError::invalid("patch", Some(&shown.clone().into()), &text);
        Status::invalid_options("", &[error])
    };
    let mut unknown = call.kind.strategy.coerce(object).map_err(refused)?;
    if matches!(patch, Patch::Strategic(..)) {
        // Upstream reads the merged value here, and not its text.
        unknown.sort_unstable();
    }
    let problems = || patch.strict_problems(&call.body).into_iter().chain(unknown_fields(&unknown)).collect();
    judge(call, options, problems, refused)
}

/// Refuses a strict write with problems, and warns of them where they are no reason to refuse it.
fn judge(
    call: &Call,
    options: &WriteOptions,
    problems: impl FnOnce() -> Vec<String>,
    refused: impl FnOnce(String) -> Status,
) -> Result<(), Status> {
    let validation = options.field_validation();
    if validation == FieldValidation::Ignore {
        return Ok(());
    }
    let problems = problems();
    if validation == FieldValidation::Strict && !problems.is_empty() {
        return Err(refused(format!("strict decoding error: {}", problems.join(", "))));
    }
    for problem in &problems {
        call.context.warnings.add(problem);
    }
    Ok(())
}

fn unknown_fields(paths: &[String]) -> impl Iterator<Item = String> {
    paths.iter().map(|path| format!("unknown field \"{path}\""))
}

/// Source: apiserver `handlers.transformDecodeError`.
fn cannot_be_handled(call: &Call, problem: &str) -> Status {
    let (kind, version) = (&call.kind.kind, &call.kind.version);
    Status::bad_request(format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {problem}"))
}

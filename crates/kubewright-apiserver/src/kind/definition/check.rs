//! A whole definition.

use super::{approval, name, spec, stored};
use crate::{error::FieldError, object::Object};

/// What is wrong with a definition, or with its change.
pub(crate) fn check(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if old.is_none() {
        problems.extend(name::of_object(new));
    }
    problems.extend(spec::check(new, old));
    if let Some(old) = old {
        problems.extend(spec::changes(new, old));
    }
    problems.extend(name::check(new.at("/status/acceptedNames"), "status.acceptedNames"));
    problems.extend(stored::check(new));
    problems.extend(approval::check(new, old));
    problems
}

//! The versions in which objects may lie in the store.

use super::part::versions;
use crate::{error::FieldError, object::Object, value::Value};

/// A version in which objects may lie is not taken away.
///
/// Source: apiextensions `validation.ValidateCustomResourceDefinitionStoredVersions`.
pub(super) fn check(object: &Object) -> Vec<FieldError> {
    // Nothing is stored before the first status is written.
    let Some(stored) = object.at("/status/storedVersions").and_then(Value::as_array) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    for (index, name) in stored.iter().enumerate() {
        if versions(object).iter().any(|version| version["name"] == *name) {
            continue;
        }
        let name = name.as_str().unwrap_or_default();
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        );
        let field = format!("status.storedVersions[{index}]");
        problems.push(FieldError::invalid(&field, Some(&name.into()), &detail));
    }
    problems
}

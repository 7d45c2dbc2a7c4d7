//! What a schema may say about the kind and the metadata of objects.

use super::is_zero;
use crate::{error::FieldError, schema::definition::Definition, value::Path};

/// Checks the properties that each object has anyhow.
///
/// Source: apiextensions `schema.validateStructuralInvariants`, `validateStructuralMetadataInvariants`.
pub(super) fn check(definition: Definition<'_>, is_root: bool, path: &Path<'_>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let is_resource = is_root || definition.flag("x-kubernetes-embedded-resource");
    let properties = path.child("properties");
    for (name, wanted) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
        let Some(property) = definition.property(name).filter(|_| is_resource) else { continue };
        if property.kind() != wanted {
            let field = properties.key(name).child("type").field();
            problems.push(FieldError::invalid(
                &field,
                Some(&property.kind().into()),
                &format!("must be {wanted}"),
            ));
        }
    }
    if is_root && definition.property("metadata").is_some_and(says_too_much) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        problems.push(FieldError::forbidden(&properties.key("metadata").field(), detail));
    }
    problems
}

fn says_too_much(metadata: Definition<'_>) -> bool {
    metadata.fields().iter().any(|(field, value)| match field.as_str() {
        "type" | "default" => false,
        "properties" => metadata.properties().any(|(name, _)| !matches!(name, "name" | "generateName")),
        _ => !is_zero(value),
    })
}

//! Whatever alternatives judge is shaped outside of them.

use crate::{error::FieldError, schema::definition::Definition, value::Path};

/// Checks a whole schema.
///
/// Source: apiextensions `schema.validateStructuralCompleteness`, which looks at the alternatives of the root only.
pub(super) fn check(definition: Definition<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    alternatives(definition, definition, path, path, &mut problems);
    problems
}

/// Goes through the alternatives of `judging`, which stands at `judged_at`, beside the node that shapes the same values.
fn alternatives(
    judging: Definition<'_>,
    shaping: Definition<'_>,
    path: &Path<'_>,
    judged_at: &Path<'_>,
    problems: &mut Vec<FieldError>,
) {
    if let Some(not) = judging.child("not") {
        compare(not, Some(shaping), path, &judged_at.child("not"), problems);
    }
    for junctor in ["allOf", "anyOf", "oneOf"] {
        let judged_at = judged_at.child(junctor);
        for (index, nested) in judging.children(junctor).enumerate() {
            compare(nested, Some(shaping), path, &judged_at.index(index), problems);
        }
    }
}

fn compare(
    judging: Definition<'_>,
    shaping: Option<Definition<'_>>,
    path: &Path<'_>,
    judged_at: &Path<'_>,
    problems: &mut Vec<FieldError>,
) {
    let Some(shaping) = shaping else {
        let detail = format!("because it is defined in {judged_at}");
        problems.push(FieldError::required(&path.field(), &detail));
        return;
    };
    alternatives(judging, shaping, path, judged_at, problems);
    if let Some(items) = judging.child("items") {
        compare(items, shaping.child("items"), &path.child("items"), &judged_at.child("items"), problems);
    }
    let (properties, judged_properties) = (path.child("properties"), judged_at.child("properties"));
    for (name, property) in judging.properties() {
        let (path, judged_at) = (properties.key(name), judged_properties.key(name));
        compare(property, shaping.property(name), &path, &judged_at, problems);
    }
}

//! The parts of versions, of which several may say the same.

use crate::{object::Object, value::Value};

/// The versions of a definition.
pub(in crate::kind) fn versions(object: &Object) -> &[Value] {
    object.at("/spec/versions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// What a version says in one of its fields; `null` and nothing are the same.
pub(super) fn part<'a>(version: &'a Value, field: &str) -> Option<&'a Value> {
    version.get(field).filter(|value| !value.is_null())
}

/// Whether all versions say the same in a field, if anything.
pub(super) fn is_common(versions: &[Value], field: &str) -> bool {
    versions.windows(2).all(|pair| part(&pair[0], field) == part(&pair[1], field))
}

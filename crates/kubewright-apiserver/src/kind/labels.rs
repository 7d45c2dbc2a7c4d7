//! The labels and annotations of an object.

use crate::{
    error::FieldError,
    name::{check_label_value, check_qualified_name},
    object::Object,
    value::{Map, Value},
};

/// What is wrong with them.
///
/// Source: apimachinery `meta/v1/validation.ValidateLabels`, `api/validation.ValidateAnnotations`.
pub(crate) fn labels_and_annotations(object: &Object) -> Vec<FieldError> {
    let mut problems = labels(object);
    problems.extend(annotations(object));
    problems
}

fn labels(object: &Object) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for (key, value) in texts(object, "labels") {
        let found = check_qualified_name(key);
        problems
            .extend(found.iter().map(|text| FieldError::invalid("metadata.labels", Some(&key.into()), text)));
        let found = check_label_value(value);
        problems.extend(
            found.iter().map(|text| FieldError::invalid("metadata.labels", Some(&value.into()), text)),
        );
    }
    problems
}

fn annotations(object: &Object) -> Vec<FieldError> {
    let path = "metadata.annotations";
    let mut problems = Vec::new();
    let mut bytes = 0;
    for (key, value) in texts(object, "annotations") {
        // Upper case has always been taken here, before and after the slash.
        let found = check_qualified_name(&key.to_lowercase());
        problems.extend(found.iter().map(|text| FieldError::invalid(path, Some(&key.into()), text)));
        bytes += key.len() + value.len();
    }
    if bytes > ANNOTATION_BYTES {
        problems.push(FieldError::too_long(path, ANNOTATION_BYTES));
    }
    problems
}

/// The entries of a map of texts.
fn texts<'a>(object: &'a Object, field: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let map = object.metadata().get(field).and_then(Value::as_object);
    map.into_iter().flat_map(Map::iter).filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

/// Source: apimachinery `api/validation.TotalAnnotationSizeLimitB`.
const ANNOTATION_BYTES: usize = 256 << 10;

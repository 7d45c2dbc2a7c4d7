//! The metadata of an object that a webhook has converted: it may change labels and annotations, and nothing else.

use crate::{
    error::FieldError,
    object::Object,
    value::{Map, Value},
};

/// Whether it is the same object.
///
/// Source: apiextensions `apiserver/conversion.validateConvertedObject`.
pub(super) fn compare(original: &Object, converted: &Object) -> Result<(), String> {
    for (field, word) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (before, after) = (original.meta(field), converted.meta(field));
        if before != after {
            return Err(format!("must have the same {word}: {before} != {after}"));
        }
    }
    Ok(())
}

/// Gives the converted object the metadata of the original, but for labels and annotations.
///
/// `check` says what is wrong with these; what was there before is not judged again.
///
/// Source: apiextensions `apiserver/conversion.restoreObjectMeta`.
pub(super) fn restore(
    original: &Object,
    converted: &mut Object,
    check: fn(&Object) -> Vec<FieldError>,
) -> Result<(), String> {
    let answered = match converted.0.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        Some(other) => {
            return Err(format!("invalid metadata of type {} in converted object", go_type(&other)));
        }
        None => return Err("missing metadata in converted object".to_owned()),
    };
    let mut metadata = original.metadata().clone();
    for field in ["labels", "annotations"] {
        let Some(value) = answered.get(field).filter(|value| !value.is_null()) else {
            metadata.remove(field);
            continue;
        };
        let Some(texts) = value.as_object() else {
            let found = go_type(value);
            return Err(format!("invalid metadata.{field} of type {found} in converted object"));
        };
        if let Some((key, value)) = texts.iter().find(|(_, value)| !value.is_string()) {
            let found = go_type(value);
            return Err(format!(
                "metadata.{field}[{key}] must be a string, but is {found} in converted object"
            ));
        }
        if original.metadata().get(field) != Some(value) {
            let alone = Object(Map::from_iter([(
                "metadata".to_owned(),
                Value::Object(Map::from_iter([(field.to_owned(), value.clone())])),
            )]));
            aggregate(&check(&alone))?;
        }
        metadata.insert(field.into(), value.clone());
    }
    converted.0.insert("metadata".into(), metadata.into());
    Ok(())
}

/// Source: apimachinery `util/errors.aggregate.Error`.
fn aggregate(problems: &[FieldError]) -> Result<(), String> {
    let mut texts: Vec<String> = Vec::new();
    for problem in problems {
        let text = problem.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [] => Ok(()),
        [text] => Err(text.clone()),
        _ => Err(format!("[{}]", texts.join(", "))),
    }
}

/// What Go has decoded a value as.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use crate::value::json;

    use super::*;

    fn object(metadata: &Value) -> Object {
        Object(json!({"metadata": metadata}).as_object().cloned().unwrap())
    }

    /// Every name has to be short.
    fn short(object: &Object) -> Vec<FieldError> {
        let keys = object.metadata().values().filter_map(Value::as_object).flat_map(Map::keys);
        let long = keys.filter(|key| key.len() > 3);
        long.map(|key| FieldError::invalid("metadata.labels", Some(&key.as_str().into()), "long")).collect()
    }

    #[test]
    fn another_object_is_not_taken() {
        let original = object(&json!({"name": "a", "namespace": "n", "uid": "u"}));
        for (other, text) in [
            (json!({"name": "b", "namespace": "n", "uid": "u"}), "must have the same name: a != b"),
            (json!({"name": "a", "uid": "u"}), "must have the same namespace: n != "),
            (json!({"name": "a", "namespace": "n", "uid": "v"}), "must have the same UID: u != v"),
        ] {
            assert_eq!(compare(&original, &object(&other)), Err(text.to_owned()));
        }
        assert_eq!(compare(&original, &original), Ok(()));
    }

    /// Source of the rows: apiextensions `apiserver/conversion.TestRestoreObjectMeta`.
    #[test]
    fn labels_and_annotations_are_the_webhooks_and_the_rest_is_not() {
        #[track_caller]
        fn check(original: &Value, answered: &Value, expected: Result<Value, &str>) {
            let mut converted = object(answered);
            let restored = restore(&object(original), &mut converted, short);
            let restored = restored.map(|()| converted.0.get("metadata").cloned().unwrap());
            assert_eq!(restored, expected.map_err(str::to_owned), "{answered}");
        }
        let named = |labels: Value| json!({"name": "a", "uid": "u", "labels": labels});
        let original = named(json!({"long before": "1"}));
        check(&original, &json!({}), Ok(json!({"name": "a", "uid": "u"})));
        check(&original, &json!({"name": "b", "labels": null}), Ok(json!({"name": "a", "uid": "u"})));
        check(&original, &json!({"labels": {"a": "1"}, "x": 1}), Ok(named(json!({"a": "1"}))));
        // What was there before is not judged again.
        check(&original, &json!({"labels": {"long before": "1"}}), Ok(original.clone()));
        let long = "metadata.labels: Invalid value: \"long now\": long";
        check(&original, &json!({"labels": {"long now": "1"}}), Err(long));
        let both = format!("[{long}, metadata.labels: Invalid value: \"longer\": long]");
        check(&original, &json!({"labels": {"long now": "1", "longer": "1"}}), Err(&both));
        let number = "metadata.labels[a] must be a string, but is int64 in converted object";
        check(&original, &json!({"labels": {"a": 1}}), Err(number));
        let list = "invalid metadata.annotations of type []interface {} in converted object";
        check(&original, &json!({"annotations": []}), Err(list));
    }

    #[test]
    fn without_metadata_it_is_no_object() {
        let original = object(&json!({"name": "a"}));
        let missing = restore(&original, &mut Object::default(), short);
        assert_eq!(missing, Err("missing metadata in converted object".to_owned()));
        let text = restore(&original, &mut object(&json!("a")), short);
        assert_eq!(text, Err("invalid metadata of type string in converted object".to_owned()));
    }
}

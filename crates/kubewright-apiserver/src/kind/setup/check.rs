//! What a field has to be, as a line of a table.

use crate::{
    error::FieldError,
    name::NameRule,
    object::Object,
    value::{Map, Value},
};

/// One thing that is asked of a field. Its path is written with dots.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// It is there, and not empty; else this is said.
    Required(&'static str, &'static str),
    /// It stays what it is.
    Immutable(&'static str),
    /// It is one of these, where it is there.
    OneOf(&'static str, &'static [&'static str]),
    /// It is a name, where it is there.
    Name(&'static str, NameRule),
}

use Check::{Immutable, Name, OneOf, Required};

/// What is wrong with an object, or with its change.
pub(super) fn all(checks: &[Check], new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for check in checks {
        match *check {
            Required(path, detail) if is_empty(at(&new.0, path)) => {
                problems.push(FieldError::required(path, detail));
            }
            Immutable(path) => {
                let value = at(&new.0, path);
                if old.is_some_and(|old| at(&old.0, path) != value) {
                    problems.push(FieldError::immutable(path, value));
                }
            }
            OneOf(path, supported) => {
                let found = at(&new.0, path).and_then(Value::as_str).filter(|text| !text.is_empty());
                if let Some(found) = found.filter(|found| !supported.contains(found)) {
                    problems.push(FieldError::not_supported(path, found, supported));
                }
            }
            Name(path, rule) => {
                let value = at(&new.0, path);
                let name = value.and_then(Value::as_str).filter(|name| !name.is_empty());
                let texts = name.map(|name| rule.check(name)).unwrap_or_default();
                problems.extend(texts.iter().map(|text| FieldError::invalid(path, value, text)));
            }
            Required(..) => {}
        }
    }
    problems
}

fn at<'a>(fields: &'a Map, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = fields.get(names.next()?);
    names.fold(first, |value, name| value?.get(name)).filter(|value| !value.is_null())
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    const CHECKS: &[Check] = &[
        Required("spec.name", "say how"),
        Immutable("spec.size"),
        OneOf("spec.kind", &["A", "B"]),
        Name("spec.name", NameRule::DnsLabel),
    ];

    #[track_caller]
    fn check(new: Value, old: Option<Value>, expected: &[&str]) {
        let object = |value: Value| Object(value.as_object().cloned().unwrap());
        let problems = all(CHECKS, &object(new), old.map(object).as_ref());
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), expected.len(), "{texts:?}");
        for (text, expected) in texts.iter().zip(expected) {
            assert!(text.starts_with(expected), "{text}");
        }
    }

    #[test]
    fn each_check_says_what_it_misses() {
        let good = json!({"spec": {"name": "a", "size": 1, "kind": "A"}});
        check(good.clone(), Some(good.clone()), &[]);
        check(json!({"spec": {"size": 1}}), None, &["spec.name: Required value: say how"]);
        check(
            json!({"spec": {"name": "A", "size": 2, "kind": "C"}}),
            Some(good),
            &[
                "spec.size: Invalid value: 2: field is immutable",
                "spec.kind: Unsupported value: \"C\": supported values: \"A\", \"B\"",
                "spec.name: Invalid value: \"A\": a lowercase RFC 1123 label",
            ],
        );
    }
}

//! What the containers of a pod, or of a template of pods, have to have.

use std::collections::HashSet;

use crate::value::Value;

use crate::{error::FieldError, name::NameRule, object::Object};

/// Source: core `validation.ValidatePod`.
pub(super) fn of_pod(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    spec(new.at("/spec"), "spec")
}

/// Source: core `validation.ValidatePodTemplateSpec`.
pub(super) fn of_template(new: &Object) -> Vec<FieldError> {
    spec(new.at("/spec/template/spec"), "spec.template.spec")
}

/// Source: core `validation.ValidatePodSpec`.
pub(super) fn spec(spec: Option<&Value>, path: &str) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let mut names = HashSet::new();
    for field in ["containers", "initContainers"] {
        let list = spec.and_then(|spec| spec[field].as_array()).map(Vec::as_slice).unwrap_or_default();
        let path = format!("{path}.{field}");
        if list.is_empty() && field == "containers" {
            problems.push(FieldError::required(&path, ""));
        }
        for (index, container) in list.iter().enumerate() {
            let path = |field: &str| format!("{path}[{index}].{field}");
            let text = |field: &str| container[field].as_str().unwrap_or_default();
            let (name, image) = (text("name"), text("image"));
            if name.is_empty() {
                problems.push(FieldError::required(&path("name"), ""));
            } else if !names.insert(name) {
                problems.push(FieldError::duplicate(&path("name"), &container["name"]));
            } else {
                let texts = NameRule::DnsLabel.check(name);
                let invalid = |text: &String| FieldError::invalid(&path("name"), container.get("name"), text);
                problems.extend(texts.iter().map(invalid));
            }
            if image.is_empty() {
                problems.push(FieldError::required(&path("image"), ""));
            } else if image.trim() != image {
                let detail = "must not have leading or trailing whitespace";
                problems.push(FieldError::invalid(&path("image"), container.get("image"), detail));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use crate::value::json;

    use super::*;

    #[track_caller]
    fn check(containers: &Value, expected: &[&str]) {
        let template = json!({"spec": {"containers": containers}});
        let object = Object(json!({"spec": {"template": template}}).as_object().cloned().unwrap());
        let problems: Vec<String> = of_template(&object).iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.starts_with(&format!("spec.template.spec.containers{expected}")), "{problem}");
        }
    }

    #[test]
    fn containers_have_names_and_images() {
        check(&json!([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]), &[]);
        check(&json!([]), &[": Required value"]);
        check(&Value::Null, &[": Required value"]);
        check(&json!([{}]), &["[0].name: Required value", "[0].image: Required value"]);
        check(
            &json!([{"name": "a", "image": " i"}, {"name": "a", "image": "i"}, {"name": "A", "image": "i"}]),
            &[
                "[0].image: Invalid value: \" i\": must not have",
                "[1].name: Duplicate value: \"a\"",
                "[2].name: Invalid value: \"A\": a lowercase RFC 1123 label",
            ],
        );
    }
}

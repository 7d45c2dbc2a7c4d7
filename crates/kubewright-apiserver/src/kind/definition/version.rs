//! The versions in which a kind is served.

use std::collections::HashSet;

use super::part::versions;
use crate::{error::FieldError, name::NameRule, object::Object, value::Value};

/// What is wrong with one version, but for the parts that it may share with others.
pub(super) fn check(version: &Value, index: usize) -> Vec<FieldError> {
    let path = format!("spec.versions[{index}]");
    let mut problems = Vec::new();
    let texts = NameRule::Dns1035Label.check(version["name"].as_str().unwrap_or_default());
    if !texts.is_empty() {
        problems.push(FieldError::invalid(&format!("{path}.name"), version.get("name"), &texts.join(",")));
    }
    if let Some(warning) = version["deprecationWarning"].as_str() {
        let field = format!("{path}.deprecationWarning");
        let details = deprecation_warning(version["deprecated"] == Value::Bool(true), warning);
        problems
            .extend(details.iter().map(|detail| FieldError::invalid(&field, Some(&warning.into()), detail)));
    }
    problems
}

/// What is wrong with the versions together.
pub(super) fn check_all(object: &Object) -> Vec<FieldError> {
    let versions = versions(object);
    let mut problems = Vec::new();
    let mut bad = |detail: &str| {
        problems.push(FieldError::invalid("spec.versions", object.at("/spec/versions"), detail));
    };
    let mut names = HashSet::new();
    if !versions.iter().all(|version| names.insert(&version["name"])) {
        bad("must contain unique version names");
    }
    if versions.iter().filter(|version| version["storage"] == Value::Bool(true)).count() != 1 {
        bad("must have exactly one version marked as storage version");
    }
    problems
}

fn deprecation_warning(is_deprecated: bool, text: &str) -> Vec<String> {
    if !is_deprecated {
        return vec!["can only be set for deprecated versions".to_owned()];
    }
    let mut problems = Vec::new();
    if text.len() > 256 {
        problems.push("must be <= 256 characters long".to_owned());
    }
    if text.is_empty() {
        problems.push("must not be an empty string".to_owned());
    }
    if let Some((index, _)) = text.char_indices().find(|(_, c)| c.is_control()) {
        problems.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {index}"
        ));
    }
    problems
}

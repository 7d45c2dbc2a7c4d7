//! Selection by fields.

use serde_json::Value;
use thiserror::Error;

use crate::object::{CodecError, Document, Object};

/// A parsed field selector, resolved for one kind. The empty one selects everything.
///
/// Source: apimachinery `fields.ParseSelector`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FieldSelector(Vec<Term>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    pointer: String,
    value: String,
    equal: bool,
}

/// The kind does not offer this label.
#[derive(Debug, Error)]
pub(crate) enum UnsupportedLabel {
    /// It is not on the kind's list.
    #[error("field label not supported: {0}")]
    Unknown(String),
    /// It is no `label=value`.
    #[error("invalid selector: '{0}'; can't understand '{1}'")]
    Malformed(String, String),
}

impl FieldSelector {
    /// Parses `text` with the field labels (and their pointers) that a kind offers besides those of the metadata.
    pub(crate) fn parse(text: &str, labels: &[(String, String)]) -> Result<Self, UnsupportedLabel> {
        let terms = text.split(',').filter(|term| !term.trim().is_empty());
        terms.map(|term| Term::parse(text, term, labels)).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only name that can match: that of a term `metadata.name=…`.
    pub(crate) fn name(&self) -> Option<&str> {
        let term = self.0.iter().find(|term| term.equal && term.pointer == NAME.1);
        term.map(|term| term.value.as_str())
    }

    pub(crate) fn matches(&self, document: &Document) -> bool {
        if self.is_empty() {
            return true;
        }
        let only_metadata = self.0.iter().all(|term| term.pointer.starts_with("/metadata/"));
        let object = if only_metadata {
            serde_json::from_slice(document.metadata())
                .map(|metadata: Value| Object(std::iter::once(("metadata".to_owned(), metadata)).collect()))
                .map_err(CodecError::Unreadable)
        } else {
            Object::decode(document)
        };
        // What nobody can read is selected, so that somebody notices.
        let Ok(object) = object else { return true };
        self.0.iter().all(|term| term.matches(&object))
    }
}

impl Term {
    fn parse(whole: &str, term: &str, labels: &[(String, String)]) -> Result<Self, UnsupportedLabel> {
        let split = [("!=", false), ("==", true), ("=", true)]
            .into_iter()
            .find_map(|(sign, equal)| term.split_once(sign).map(|(label, value)| (label, value, equal)));
        let Some((label, value, equal)) = split else {
            return Err(UnsupportedLabel::Malformed(whole.to_owned(), term.to_owned()));
        };
        let own = labels.iter().map(|(label, pointer)| (label.as_str(), pointer.as_str()));
        let pointer = [NAME, NAMESPACE].into_iter().chain(own).find(|(known, _)| *known == label.trim());
        match pointer {
            Some((_, pointer)) => {
                Ok(Self { pointer: pointer.to_owned(), value: value.trim().to_owned(), equal })
            }
            None => Err(UnsupportedLabel::Unknown(label.trim().to_owned())),
        }
    }

    fn matches(&self, object: &Object) -> bool {
        let value = match object.at(&self.pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            // Field labels of booleans and numbers read as their zero value when absent, and those of strings as
            // the empty text. Which of them a label is, shows in what it is compared with.
            _ => match self.value.as_str() {
                "false" | "true" => "false".to_owned(),
                other if other.parse::<i64>().is_ok() => "0".to_owned(),
                _ => String::new(),
            },
        };
        (value == self.value) == self.equal
    }
}

const NAME: (&str, &str) = ("metadata.name", "/metadata/name");
const NAMESPACE: (&str, &str) = ("metadata.namespace", "/metadata/namespace");

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selector(text: &str) -> Result<FieldSelector, UnsupportedLabel> {
        let labels = [("status.phase", "/status/phase"), ("spec.unschedulable", "/spec/unschedulable")];
        let labels = labels.map(|(label, pointer)| (label.to_owned(), pointer.to_owned()));
        FieldSelector::parse(text, &labels)
    }

    #[test]
    fn selectors_match_the_fields_of_their_kind() {
        let value = json!({"metadata": {"name": "n", "namespace": "s"}, "status": {"phase": "Running"}});
        let document = Object(value.as_object().cloned().unwrap()).encode().unwrap().at(1);
        for (text, expected) in [
            ("", true),
            ("metadata.name=n", true),
            ("metadata.name==n,metadata.namespace!=s", false),
            ("status.phase=Running,metadata.name=n", true),
            ("status.phase!=Running", false),
            ("spec.unschedulable=false", true),
            ("spec.unschedulable=true", false),
        ] {
            assert_eq!(selector(text).unwrap().matches(&document), expected, "{text}");
        }
    }

    #[test]
    fn other_labels_are_refused() {
        let error = selector("spec.foo=1").unwrap_err();
        assert_eq!(error.to_string(), "field label not supported: spec.foo");
        assert!(selector("metadata.name").is_err());
    }
}

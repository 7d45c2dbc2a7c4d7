//! Selection by fields.

use thiserror::Error;

use crate::object::{CodecError, Document, Object};

use crate::value::Value;

/// A parsed field selector, resolved for one kind. The empty one selects everything.
///
/// Source: apimachinery `fields.ParseSelector`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FieldSelector(Vec<Term>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    label: FieldLabel,
    value: String,
    equal: bool,
}

/// What a label that selectors may name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldLabel {
    /// Where the value stands in the stored object.
    pub(crate) pointer: String,
    /// What an absent value is compared as.
    pub(crate) absent: &'static str,
}

impl FieldLabel {
    /// A label whose absent value is compared as empty text.
    pub(crate) fn text(pointer: &str) -> Self {
        Self { pointer: pointer.to_owned(), absent: "" }
    }
}

/// Why a text is no field selector.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum FieldSelectorError {
    /// The kind does not offer this label, in its own words.
    #[error("{0}")]
    Label(String),
    /// It is no `label=value`.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Malformed { selector: String, term: String },
    /// A backslash before what needs none.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    /// A sign that needs a backslash, as its number.
    #[error("invalid field selector: unescaped character in value: {}", u32::from(*.0))]
    Unescaped(char),
}

impl FieldSelector {
    /// Parses `text`; `resolve` says what a label stands for.
    pub(crate) fn parse(
        text: &str,
        resolve: impl Fn(&str) -> Result<FieldLabel, String>,
    ) -> Result<Self, FieldSelectorError> {
        let mut terms = split_terms(text);
        terms.sort_unstable();
        let parts = terms.into_iter().filter(|term| !term.is_empty()).map(|term| split_term(text, term));
        // All of it is understood before anything is resolved.
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let terms = parts.into_iter().map(|(label, equal, value)| {
            let label = resolve(label).map_err(FieldSelectorError::Label)?;
            Ok(Term { label, value, equal })
        });
        terms.collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only name that can match: that of a term `metadata.name=…`.
    pub(crate) fn name(&self) -> Option<&str> {
        let term = self.0.iter().find(|term| term.equal && term.label.pointer == NAME);
        term.map(|term| term.value.as_str())
    }

    pub(crate) fn matches(&self, document: &Document) -> bool {
        if self.is_empty() {
            return true;
        }
        let only_metadata = self.0.iter().all(|term| term.label.pointer.starts_with("/metadata/"));
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
    fn matches(&self, object: &Object) -> bool {
        let found = match object.at(&self.label.pointer) {
            Some(Value::String(text)) => text.to_string(),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            _ => self.label.absent.to_owned(),
        };
        (found == self.value) == self.equal
    }
}

/// Splits at commas that have no backslash before them.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut is_escaped) = (Vec::new(), 0, false);
    for (index, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            ',' => {
                terms.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

/// The label, whether the value has to be equal, and the value.
fn split_term<'a>(selector: &str, term: &'a str) -> Result<(&'a str, bool, String), FieldSelectorError> {
    let sign = term.char_indices().find_map(|(at, _)| {
        let signs = [("!=", false), ("==", true), ("=", true)];
        signs
            .into_iter()
            .find(|(sign, _)| term[at..].starts_with(sign))
            .map(|(sign, equal)| (at, sign, equal))
    });
    let Some((at, sign, equal)) = sign else {
        let (selector, term) = (selector.to_owned(), term.to_owned());
        return Err(FieldSelectorError::Malformed { selector, term });
    };
    Ok((&term[..at], equal, unescape(&term[at + sign.len()..])?))
}

fn unescape(value: &str) -> Result<String, FieldSelectorError> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                other => {
                    let sequence = ['\\'].into_iter().chain(other).collect();
                    return Err(FieldSelectorError::Escape(sequence));
                }
            },
            ',' | '=' => return Err(FieldSelectorError::Unescaped(character)),
            other => plain.push(other),
        }
    }
    Ok(plain)
}

const NAME: &str = "/metadata/name";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn selector(text: &str) -> Result<FieldSelector, FieldSelectorError> {
        FieldSelector::parse(text, |label| match label {
            "metadata.name" | "metadata.namespace" | "status.phase" => {
                Ok(FieldLabel::text(&format!("/{}", label.replace('.', "/"))))
            }
            "spec.unschedulable" => {
                Ok(FieldLabel { pointer: "/spec/unschedulable".to_owned(), absent: "false" })
            }
            other => Err(format!("no {other}")),
        })
    }

    #[test]
    fn selectors_match_the_fields_of_their_kind() {
        let value = json!({"metadata": {"name": "n", "namespace": "s"}, "status": {"phase": "a,b"}});
        let document = Object(value.as_object().cloned().unwrap()).encode().unwrap().at(1);
        for (text, expected) in [
            ("", true),
            (",", true),
            ("metadata.name=n", true),
            ("metadata.name==n,metadata.namespace!=s", false),
            ("status.phase=a\\,b,metadata.name=n", true),
            ("status.phase!=a\\,b", false),
            ("spec.unschedulable=false", true),
            ("spec.unschedulable=true", false),
            ("spec.unschedulable=", false),
            ("metadata.name= n", false),
        ] {
            assert_eq!(selector(text).unwrap().matches(&document), expected, "{text}");
        }
        assert_eq!(selector("status.phase!=x,metadata.name=n").unwrap().name(), Some("n"));
    }

    #[test]
    fn nonsense_is_refused_in_the_words_of_upstream() {
        for (text, problem) in [
            ("spec.foo=1", "no spec.foo"),
            // In the order of the terms' texts, and not before all of them are understood.
            ("b=1,a=1", "no a"),
            ("b=1,x", "invalid selector: 'b=1,x'; can't understand 'x'"),
            (" ", "invalid selector: ' '; can't understand ' '"),
            ("metadata.name=a=b", "invalid field selector: unescaped character in value: 61"),
            ("metadata.name=\\a", "invalid field selector: invalid escape sequence: \\a"),
            ("metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"),
        ] {
            assert_eq!(selector(text).unwrap_err().to_string(), problem, "{text}");
        }
    }
}

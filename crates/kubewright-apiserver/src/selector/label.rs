//! Selection by labels.

use std::{collections::BTreeMap, str::FromStr};

use serde::Deserialize;

use super::syntax;
use crate::value::{Key, Value};

/// A parsed label selector. The empty one selects everything.
///
/// Source: apimachinery `labels.Parse`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LabelSelector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) key: String,
    pub(super) operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    GreaterThan(i64),
    LessThan(i64),
}

impl LabelSelector {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a `metav1.LabelSelector` that has been validated. What is none selects everything.
    ///
    /// Source: apimachinery `metav1.LabelSelectorAsSelector`.
    pub(crate) fn of_object(selector: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let labels = selector["matchLabels"].as_object().into_iter().flatten();
        let labels = labels.map(|(key, value)| (key.to_string(), Operator::In(vec![text(value)])));
        let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
        let expressions = expressions.map(|expression| {
            let values = expression["values"].as_array().into_iter().flatten().map(text).collect();
            let operator = match expression["operator"].as_str() {
                Some("In") => Operator::In(values),
                Some("NotIn") => Operator::NotIn(values),
                Some("DoesNotExist") => Operator::DoesNotExist,
                _ => Operator::Exists,
            };
            (text(&expression["key"]), operator)
        });
        Self(labels.chain(expressions).map(|(key, operator)| Requirement { key, operator }).collect())
    }

    /// Whether labels are selected; `None` are none.
    pub(crate) fn selects(&self, labels: Option<&Value>) -> bool {
        let labels = labels.and_then(Value::as_object).into_iter().flatten();
        let text = |(name, value): (&Key, &Value)| Some((name.to_string(), value.as_str()?.to_owned()));
        // Labels of which one is no text are none.
        let found: BTreeMap<String, String> = labels.map(text).collect::<Option<_>>().unwrap_or_default();
        self.0.iter().all(|requirement| requirement.matches(&found))
    }

    /// Whether the labels in an encoded `metadata` are selected.
    pub(crate) fn matches(&self, metadata: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Labelled {
            labels: Option<BTreeMap<String, String>>,
        }
        if self.is_empty() {
            return true;
        }
        // What nobody can read is selected, so that somebody notices.
        let Ok(Labelled { labels }) = serde_json::from_slice(metadata) else { return true };
        let labels = labels.unwrap_or_default();
        self.0.iter().all(|requirement| requirement.matches(&labels))
    }
}

impl Requirement {
    /// An absent label satisfies `!=`, `notin` and `!`.
    fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.operator {
            Operator::In(values) => value.is_some_and(|value| values.contains(value)),
            Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan(bound) => number().is_some_and(|number| number > *bound),
            Operator::LessThan(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

impl FromStr for LabelSelector {
    type Err = String;

    /// # Errors
    /// What upstream says of a text that is no selector.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        syntax::requirements(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(selector: &str, metadata: &str, expected: bool) {
        let selector: LabelSelector = selector.parse().unwrap();
        assert_eq!(selector.matches(metadata.as_bytes()), expected, "{selector:?}");
    }

    #[test]
    fn selectors_match_as_in_go() {
        let labels = r#"{"name":"n","labels":{"a":"1","b":"two"}}"#;
        for (selector, expected) in [
            ("", true),
            ("a=1", true),
            ("a==1,b=two", true),
            ("a=2", false),
            ("a!=2", true),
            ("c!=2", true),
            ("a in (1, 2)", true),
            ("a notin (1,2)", false),
            ("c notin (1)", true),
            ("a", true),
            ("!a", false),
            ("!c", true),
            ("a>0", true),
            ("a<1", false),
            ("x.y/z in (1),b", false),
            ("a in (,1)", true),
            ("c=", false),
            (" a = 1 , b ", true),
        ] {
            check(selector, labels, expected);
        }
        check("a", r#"{"name":"n"}"#, false);
    }
}

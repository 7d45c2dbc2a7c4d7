//! Selection by labels.

use std::{collections::BTreeMap, str::FromStr};

use serde::Deserialize;
use serde_json::Value;

/// A parsed label selector. The empty one selects everything.
///
/// Source: apimachinery `labels.Parse`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LabelSelector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
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
        let labels = labels.map(|(key, value)| (key.clone(), Operator::In(vec![text(value)])));
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
        let found: BTreeMap<String, String> =
            labels.and_then(|labels| BTreeMap::deserialize(labels).ok()).unwrap_or_default();
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

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = split(text)?;
        parts.into_iter().map(requirement).collect::<Result<_, _>>().map(Self)
    }
}

/// Splits at the commas outside of parentheses.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (index, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1).ok_or("found ')', expected: identifier")?,
            ',' if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("found '', expected: ',' or ')'".into());
    }
    if !text.trim().is_empty() {
        parts.push(&text[start..]);
    }
    Ok(parts)
}

fn requirement(text: &str) -> Result<Requirement, String> {
    let text = text.trim();
    if let Some(key) = text.strip_prefix('!') {
        return Ok(Requirement { key: key_of(key)?, operator: Operator::DoesNotExist });
    }
    if let Some((left, values)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let values = values.split(',').map(|value| value.trim().to_owned()).collect();
        let (key, operator) = match left.trim().rsplit_once(char::is_whitespace) {
            Some((key, "in")) => (key, Operator::In(values)),
            Some((key, "notin")) => (key, Operator::NotIn(values)),
            _ => return Err(format!("unable to parse requirement: {text}")),
        };
        return Ok(Requirement { key: key_of(key)?, operator });
    }
    for (sign, make) in SIGNS {
        if let Some((key, value)) = text.split_once(sign) {
            return Ok(Requirement { key: key_of(key)?, operator: make(value.trim())? });
        }
    }
    Ok(Requirement { key: key_of(text)?, operator: Operator::Exists })
}

/// Makes an operator of the text after its sign.
type ReadValue = fn(&str) -> Result<Operator, String>;

/// The longer signs come first, because the shorter ones are part of them.
const SIGNS: &[(&str, ReadValue)] = &[
    ("!=", |value| Ok(Operator::NotIn(vec![value.to_owned()]))),
    ("==", |value| Ok(Operator::In(vec![value.to_owned()]))),
    ("=", |value| Ok(Operator::In(vec![value.to_owned()]))),
    (">", |value| number(value).map(Operator::GreaterThan)),
    ("<", |value| number(value).map(Operator::LessThan)),
];

fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "for 'Gt', 'Lt' operators, the value must be an integer".to_owned())
}

fn key_of(text: &str) -> Result<String, String> {
    let key = text.trim();
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if key.is_empty() || !key.chars().all(good) {
        return Err(format!("unable to parse requirement: invalid label key {key:?}"));
    }
    Ok(key.to_owned())
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
        ] {
            check(selector, labels, expected);
        }
        check("a", r#"{"name":"n"}"#, false);
    }

    #[test]
    fn nonsense_is_refused() {
        for selector in ["a in (1", "=1", "a b", "a) ", "a>x", ","] {
            assert!(selector.parse::<LabelSelector>().is_err(), "{selector}");
        }
    }
}

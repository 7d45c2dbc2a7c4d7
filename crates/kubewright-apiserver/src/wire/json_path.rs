//! The JSON paths of printer columns: fields, indexes, `[*]` and simple filters.

use crate::value::{Map, Value};

/// The first value at `path`, such as `.status.conditions[?(@.type=="Ready")].status`.
///
/// `None` when there is none, or when the path uses what is not understood (unions, slices, recursive descent).
///
/// Source: client-go `util/jsonpath`, as far as apiextensions allows it for columns.
pub(super) fn first<'a>(object: &'a Map, path: &str) -> Option<&'a Value> {
    let steps = steps(path)?;
    match steps.split_first()? {
        (Step::Field(name), rest) => walk(object.get(name)?, rest),
        _ => None,
    }
}

fn walk<'a>(value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    let mut found = vec![value];
    for step in steps {
        found = found.into_iter().flat_map(|value| step.apply(value)).collect();
    }
    found.into_iter().next()
}

enum Step {
    Field(String),
    Index(i64),
    All,
    Filter { path: Vec<Step>, equal: bool, literal: Value },
}

impl Step {
    fn apply<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::Index(index) => {
                let from_end = usize::try_from(-index).ok().and_then(|back| items.len().checked_sub(back));
                let index = usize::try_from(*index).ok().or(from_end);
                index.and_then(|index| items.get(index)).into_iter().collect()
            }
            Self::All => match value {
                Value::Object(map) => map.values().collect(),
                _ => items.iter().collect(),
            },
            Self::Filter { path, equal, literal } => {
                let passes =
                    |item: &&Value| walk(item, path).is_some_and(|found| (found == literal) == *equal);
                items.iter().filter(passes).collect()
            }
        }
    }
}

fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches('$');
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let end = closing_bracket(inside)?;
            steps.push(bracket(&inside[..end])?);
            rest = &inside[end + 1..];
        } else {
            let (name, after) = field(rest.strip_prefix('.').unwrap_or(rest));
            match name.as_str() {
                "" if after.is_empty() && steps.is_empty() => {}
                "" => return None,
                "*" => steps.push(Step::All),
                _ => steps.push(Step::Field(name)),
            }
            rest = after;
        }
    }
    Some(steps)
}

/// Reads a field name up to the next `.` or `[`; a backslash takes the next character as it is.
fn field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
            '.' | '[' => return (name, &text[index..]),
            _ => name.push(character),
        }
    }
    (name, "")
}

fn bracket(inside: &str) -> Option<Step> {
    let inside = inside.trim();
    if inside == "*" {
        return Some(Step::All);
    }
    if let Some(quoted) = unquote(inside) {
        return Some(Step::Field(quoted.to_owned()));
    }
    if let Some(filter) = inside.strip_prefix("?(").and_then(|filter| filter.strip_suffix(')')) {
        let (left, right, equal) = [("==", true), ("!=", false)]
            .into_iter()
            .find_map(|(sign, equal)| filter.split_once(sign).map(|(left, right)| (left, right, equal)))?;
        let right = right.trim();
        let literal = match unquote(right) {
            Some(text) => text.into(),
            None => serde_json::from_str(right).ok()?,
        };
        return Some(Step::Filter { path: steps(left.trim().strip_prefix('@')?)?, equal, literal });
    }
    inside.parse().ok().map(Step::Index)
}

/// The offset of the bracket that closes the one before `text`, outside of quotes.
fn closing_bracket(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0, None);
    for (index, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some(index),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn unquote(text: &str) -> Option<&str> {
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn paths_of_columns_find_their_value() {
        let value = json!({
            "spec": {"replicas": 3, "a.b": {"c": "d"}, "list": [1, 2, 3]},
            "status": {"conditions": [
                {"type": "Synced", "status": "False"},
                {"type": "Ready", "status": "True", "n": 2},
            ]},
        });
        for (path, expected) in [
            (".spec.replicas", Some(json!(3))),
            (r".spec.a\.b.c", Some(json!("d"))),
            (".spec['a.b'].c", Some(json!("d"))),
            (".spec.list[1]", Some(json!(2))),
            (".spec.list[-1]", Some(json!(3))),
            (".spec.list[*]", Some(json!(1))),
            (r#".status.conditions[?(@.type=="Ready")].status"#, Some(json!("True"))),
            (".status.conditions[?(@.type=='Ready')].status", Some(json!("True"))),
            (r#".status.conditions[?(@.type!="Synced")].n"#, Some(json!(2))),
            (".status.conditions[?(@.n==2)].type", Some(json!("Ready"))),
            (".status.conditions[?(@.type==\"None\")].status", None),
            (".spec.missing.deeper", None),
            (".spec.list[9]", None),
            ("$.spec.replicas", Some(json!(3))),
            ("..replicas", None),
        ] {
            assert_eq!(first(value.as_object().unwrap(), path), expected.as_ref(), "{path}");
        }
    }
}

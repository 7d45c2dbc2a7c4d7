//! The text of a label selector.

use std::{collections::BTreeSet, iter::Peekable, vec};

use super::label::{Operator, Requirement};
use crate::{
    error::FieldError,
    name::{check_label_value, check_qualified_name},
};

/// Reads the requirements of a selector.
///
/// # Errors
/// What upstream says of a text that is no selector.
///
/// Source: apimachinery `labels.Parser`.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, String> {
    let mut reader = Reader(words(text).into_iter().peekable());
    let mut requirements = Vec::new();
    loop {
        match reader.peek() {
            Word::Text(_) | Word::Sign("!") => {}
            Word::End => return Ok(requirements),
            found @ Word::Sign(_) => {
                return Err(format!("found '{}', expected: !, identifier, or 'end of string'", found.text()));
            }
        }
        let requirement = reader.requirement();
        requirements.push(requirement.map_err(|problem| format!("unable to parse requirement: {problem}"))?);
        match reader.next() {
            Word::End => return Ok(requirements),
            Word::Sign(",") => match reader.peek() {
                Word::Text(_) | Word::Sign("!") => {}
                found => return Err(format!("found '{}', expected: identifier after ','", found.text())),
            },
            found => return Err(format!("found '{}', expected: ',' or 'end of string'", found.text())),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word<'a> {
    /// A key, a value, or the name of an operator.
    Text(&'a str),
    Sign(&'a str),
    End,
}

impl<'a> Word<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Text(text) | Self::Sign(text) => text,
            Self::End => "",
        }
    }
}

fn words(text: &str) -> Vec<Word<'_>> {
    let is_sign = |it: char| "=!(),><".contains(it);
    let is_space = |it: char| " \t\r\n".contains(it);
    let mut words = Vec::new();
    // A zero byte ends the text upstream, too.
    let mut rest = text.split('\0').next().unwrap_or_default().trim_start_matches(is_space);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("==") || rest.starts_with("!=") {
            2
        } else if is_sign(first) {
            1
        } else {
            rest.find(|it| is_sign(it) || is_space(it)).unwrap_or(rest.len())
        };
        let (word, after) = rest.split_at(length);
        words.push(if is_sign(first) { Word::Sign(word) } else { Word::Text(word) });
        rest = after.trim_start_matches(is_space);
    }
    words
}

struct Reader<'a>(Peekable<vec::IntoIter<Word<'a>>>);

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Word<'a> {
        self.0.peek().copied().unwrap_or(Word::End)
    }

    fn next(&mut self) -> Word<'a> {
        self.0.next().unwrap_or(Word::End)
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let is_absent = self.peek() == Word::Sign("!");
        if is_absent {
            self.next();
        }
        let key = match self.next() {
            Word::Text(key) => key,
            found => return Err(format!("found '{}', expected: identifier", found.text())),
        };
        check("<nil>", key, &check_qualified_name(key))?;
        let operator = match self.peek() {
            _ if is_absent => Operator::DoesNotExist,
            Word::End | Word::Sign(",") => Operator::Exists,
            _ => self.operator(key)?,
        };
        Ok(Requirement { key: key.to_owned(), operator })
    }

    fn operator(&mut self, key: &str) -> Result<Operator, String> {
        let word = self.next();
        let values = match word {
            Word::Text("in" | "notin") => self.values()?,
            Word::Sign("=" | "==" | "!=" | ">" | "<") => BTreeSet::from([self.value()?]),
            found => {
                return Err(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", found.text()));
            }
        };
        let values: Vec<String> = values.into_iter().map(str::to_owned).collect();
        let mut problems = Vec::new();
        let bound = values.first().and_then(|value| value.parse::<i64>().ok());
        if matches!(word.text(), ">" | "<") && bound.is_none() {
            let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
            let value = values.first().map(|value| value.as_str().into());
            problems.push(FieldError::invalid("values[0]", value.as_ref(), detail).to_string());
        }
        for (index, value) in values.iter().enumerate() {
            let place = format!("values[{index}][{key}]");
            problems.extend(check(&place, value, &check_label_value(value)).err());
        }
        match problems.as_slice() {
            [] => {}
            [one] => return Err(one.clone()),
            all => return Err(format!("[{}]", all.join(", "))),
        }
        Ok(match (word.text(), bound) {
            (">", Some(bound)) => Operator::GreaterThan(bound),
            ("<", Some(bound)) => Operator::LessThan(bound),
            ("notin" | "!=", _) => Operator::NotIn(values),
            _ => Operator::In(values),
        })
    }

    /// `(a, b)`, of which each may be empty.
    fn values(&mut self) -> Result<BTreeSet<&'a str>, String> {
        let mut values = BTreeSet::new();
        match self.next() {
            Word::Sign("(") => {}
            found => return Err(format!("found '{}' expected: '('", found.text())),
        }
        match self.peek() {
            Word::Text(_) | Word::Sign("," | ")") => {}
            found => {
                return Err(format!("found '{}', expected: ',', ')' or identifier", found.text()));
            }
        }
        // Whether the next word may only be what comes after a value.
        let mut is_after_value = false;
        loop {
            match self.next() {
                Word::Text(value) if !is_after_value => {
                    values.insert(value);
                    is_after_value = true;
                }
                Word::Sign(end @ ("," | ")")) => {
                    if !is_after_value {
                        values.insert("");
                    }
                    is_after_value = false;
                    if end == ")" {
                        return Ok(values);
                    }
                }
                found if is_after_value => {
                    return Err(format!("found '{}', expected: ',' or ')'", found.text()));
                }
                found => return Err(format!("found '{}', expected: ',', or identifier", found.text())),
            }
        }
    }

    /// What comes after a sign, which may be nothing.
    fn value(&mut self) -> Result<&'a str, String> {
        if matches!(self.peek(), Word::End | Word::Sign(",")) {
            return Ok("");
        }
        match self.next() {
            Word::Text(value) => Ok(value),
            found => Err(format!("found '{}', expected: identifier", found.text())),
        }
    }
}

fn check(place: &str, text: &str, problems: &[String]) -> Result<(), String> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(FieldError::invalid(place, Some(&text.into()), &problems.join("; ")).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, problem: &str) {
        assert_eq!(requirements(text), Err(problem.to_owned()), "{text}");
    }

    #[test]
    fn nonsense_is_refused_in_the_words_of_upstream() {
        refused(",", "found ',', expected: !, identifier, or 'end of string'");
        refused("=1", "found '=', expected: !, identifier, or 'end of string'");
        refused("a,", "found '', expected: identifier after ','");
        refused("a) ", "unable to parse requirement: found ')', expected: in, notin, =, ==, !=, gt, lt");
        refused("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
        refused("a=1 b", "found 'b', expected: ',' or 'end of string'");
        refused("!a=1", "found '=', expected: ',' or 'end of string'");
        refused("!", "unable to parse requirement: found '', expected: identifier");
        refused("a in", "unable to parse requirement: found '' expected: '('");
        refused("a in (1", "unable to parse requirement: found '', expected: ',' or ')'");
        refused("a in (1,", "unable to parse requirement: found '', expected: ',', or identifier");
        refused("a in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier");
        refused("a in (1 2)", "unable to parse requirement: found '2', expected: ',' or ')'");
        refused("a==!", "unable to parse requirement: found '!', expected: identifier");
        refused(
            "a>x",
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
        );
        let start = "unable to parse requirement: <nil>: Invalid value: \"a*\": name part must consist of";
        assert!(requirements("a*").unwrap_err().starts_with(start));
        let start = "unable to parse requirement: values[1][a]: Invalid value: \"-\": a valid label must be";
        // Values are told in the order of their texts.
        assert!(requirements("a in (b, -, *)").unwrap_err().contains("values[0][a]: Invalid value: \"*\""));
        assert!(
            requirements("a in (+1,-)")
                .unwrap_err()
                .starts_with("unable to parse requirement: [values[0][a]")
        );
        assert!(requirements("a in (,-)").unwrap_err().starts_with(start));
    }

    #[test]
    fn names_of_operators_are_values_too() {
        let read = requirements("in in (in,notin),notin").unwrap();
        let operators: Vec<_> = read.into_iter().map(|it| (it.key, it.operator)).collect();
        let values = vec!["in".to_owned(), "notin".to_owned()];
        let expected = [("in".to_owned(), Operator::In(values)), ("notin".to_owned(), Operator::Exists)];
        assert_eq!(operators, expected);
    }
}

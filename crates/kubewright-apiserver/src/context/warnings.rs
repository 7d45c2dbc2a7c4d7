//! What a client is told beside its answer.

use std::sync::Arc;

use http::HeaderValue;
use parking_lot::Mutex;

/// Warnings for the client of one request. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Adds one, unless it is there already.
    pub(crate) fn add(&self, text: &str) {
        let mut all = self.0.lock();
        if !all.iter().any(|known| known == text) {
            all.push(text.to_owned());
        }
    }

    /// As headers. Long ones are cut so that all of them fit.
    ///
    /// Source: apiserver `endpoints/filters.recorder`, apimachinery `util/net.NewWarningHeader`.
    pub(crate) fn headers(&self) -> Vec<HeaderValue> {
        let all = self.0.lock();
        let total: usize = all.iter().map(String::len).sum();
        let limit = if total > MAX_TOTAL { MAX_EACH } else { usize::MAX };
        let mut left = MAX_TOTAL;
        let fitting = all.iter().map(|text| cut(text, limit)).take_while(|text| {
            let fits = text.len() <= left;
            left = left.saturating_sub(text.len());
            fits
        });
        fitting
            .filter_map(|text| HeaderValue::from_bytes(format!("299 - {}", quoted(text)).as_bytes()).ok())
            .collect()
    }
}

/// At most so many bytes, and whole characters.
fn cut(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// A quoted string; control characters become spaces.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => quoted.push(' '),
            character => quoted.push(character),
        }
    }
    quoted + "\""
}

const MAX_TOTAL: usize = 4 * 1024;
const MAX_EACH: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: &[&str]) {
        let warnings = Warnings::default();
        for text in texts {
            warnings.add(text);
        }
        assert_eq!(
            warnings.headers().iter().map(HeaderValue::as_bytes).collect::<Vec<_>>(),
            expected.iter().map(|it| it.as_bytes()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn warnings_are_quoted_said_once_and_cut_when_there_are_many() {
        check(&["a \"b\"\n", "ä", "ä"], &[r#"299 - "a \"b\" ""#, "299 - \"ä\""]);
        let (long, other) = ("x".repeat(4000), "y".repeat(300));
        let expected = format!("299 - \"{}\"", "x".repeat(256));
        check(&[&long, &other], &[&expected, &expected.replace('x', "y")]);
    }
}

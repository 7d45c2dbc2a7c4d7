//! How deep a value may be nested, at the only decoder.

use crate::value::{TOO_DEEP, Value, decode};

/// How many arrays and objects may stand inside each other. Bodies and patches that go deeper are refused.
///
/// Readers stop at some depth: ours and those of Rust clients at 128. An answer puts an object into a list, a table
/// or an event, so that a stored object has to stay a little flatter than what can be read.
///
/// # Differences from Go
/// Upstream reads 10,000 levels, which no stack of a Tokio thread carries.
pub(crate) const MAX_DEPTH: usize = 100;

/// Reads JSON.
///
/// # Errors
/// What is no JSON, or is nested too deep, as a sentence.
pub(crate) fn from_json(bytes: &[u8]) -> Result<Value, String> {
    decode(bytes, MAX_DEPTH).map_err(|error| problem(&error, bytes))
}

/// Says what is wrong with JSON. The most common mistakes are told as Go tells them.
fn problem(error: &serde_json::Error, bytes: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let text = error.to_string();
    if text.starts_with(TOO_DEEP) {
        return TOO_DEEP.to_owned();
    }
    let line = bytes.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1));
    let byte = line.and_then(|line| line.get(error.column().checked_sub(1)?));
    match byte {
        Some(byte) if text.starts_with("trailing characters") => {
            format!("invalid character '{}' after top-level value", char::from(*byte).escape_default())
        }
        _ => text,
    }
}

/// Reads YAML, of which the reader takes 64 levels.
///
/// # Errors
/// What is no YAML, or is nested too deep, as a sentence.
pub(crate) fn from_yaml(bytes: &[u8]) -> Result<Value, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    if is_within(&value, MAX_DEPTH) { Ok(value) } else { Err(TOO_DEEP.to_owned()) }
}

/// Whether `value` has at most `levels` arrays and objects inside each other. Looks no deeper than that.
pub(crate) fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(fields) => levels > 0 && fields.values().all(|field| is_within(field, levels - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_mistakes_read_as_go_tells_them() {
        for (text, problem) in [
            ("", "unexpected end of JSON input"),
            ("{\"a\": [1,", "unexpected end of JSON input"),
            ("{}{}", "invalid character '{' after top-level value"),
            ("{\n} x", "invalid character 'x' after top-level value"),
        ] {
            assert_eq!(from_json(text.as_bytes()), Err(problem.to_owned()));
        }
    }

    #[test]
    fn depth_is_limited_in_every_form() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(from_json(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert_eq!(from_yaml(nested(60).as_bytes()).err(), None);
        assert_eq!(from_json(nested(MAX_DEPTH + 1).as_bytes()).unwrap_err(), TOO_DEEP);
        assert!(from_yaml(nested(MAX_DEPTH + 1).as_bytes()).is_err());
        for levels in [1_000, 100_000] {
            assert!(from_json(nested(levels).as_bytes()).is_err());
            assert!(from_yaml(nested(levels).as_bytes()).is_err());
        }
    }
}

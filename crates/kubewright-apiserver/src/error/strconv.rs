//! Numbers and texts as Go's `strconv` reads and writes them, since messages show them.

use std::num::{IntErrorKind, ParseIntError};

/// Reads a decimal `int64`.
pub(crate) fn parse_int(text: &str) -> Result<i64, String> {
    text.parse().map_err(|error| failure("ParseInt", text, &error))
}

/// Reads a decimal `uint64`, which takes no sign.
pub(crate) fn parse_uint(text: &str) -> Result<u64, String> {
    // Rust takes a plus here.
    let digits = if text.starts_with('+') { "" } else { text };
    digits.parse().map_err(|error| failure("ParseUint", text, &error))
}

/// The text in quotes, as `strconv.Quote` writes it.
pub(crate) fn quote(text: &str) -> String {
    let escaped: String = text.chars().map(escape).collect();
    format!("\"{escaped}\"")
}

fn escape(character: char) -> String {
    match character {
        '"' | '\\' => format!("\\{character}"),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        '\u{7}' => "\\a".into(),
        '\u{8}' => "\\b".into(),
        '\u{b}' => "\\v".into(),
        '\u{c}' => "\\f".into(),
        _ if is_print(character) => character.into(),
        ..='\u{7f}' => format!("\\x{:02x}", u32::from(character)),
        ..='\u{ffff}' => format!("\\u{:04x}", u32::from(character)),
        _ => format!("\\U{:08x}", u32::from(character)),
    }
}

/// Whether a character is a letter, mark, number, sign or the space.
///
/// Source: Go's `unicode.IsPrint`. Rust's `Debug` of a text draws the same line; the letter in front keeps it from
/// escaping a mark because it stands alone.
pub(crate) fn is_print(character: char) -> bool {
    let shown = String::from_iter(['a', character]);
    matches!(character, '"' | '\'' | '\\') || shown.escape_debug().nth(1) == Some(character)
}

fn failure(function: &str, text: &str, error: &ParseIntError) -> String {
    let problem = match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    };
    format!("strconv.{function}: parsing {}: {problem}", quote(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_go_reads_them() {
        for (text, int, uint) in [
            ("5", Ok(5), Ok(5)),
            ("+5", Ok(5), Err("invalid syntax")),
            ("-5", Ok(-5), Err("invalid syntax")),
            ("", Err("invalid syntax"), Err("invalid syntax")),
            ("1_0", Err("invalid syntax"), Err("invalid syntax")),
            ("0x5", Err("invalid syntax"), Err("invalid syntax")),
            ("9223372036854775808", Err("value out of range"), Ok(1 << 63)),
            ("18446744073709551616", Err("value out of range"), Err("value out of range")),
        ] {
            let failed =
                |function: &str, problem| format!("strconv.{function}: parsing \"{text}\": {problem}");
            assert_eq!(parse_int(text), int.map_err(|problem| failed("ParseInt", problem)));
            assert_eq!(parse_uint(text), uint.map_err(|problem| failed("ParseUint", problem)));
        }
    }

    #[test]
    fn texts_are_quoted_as_go_quotes_them() {
        for (text, quoted) in [
            ("a'b é 😀 e\u{301}", "\"a'b é 😀 e\u{301}\""),
            ("a\"\\\n\t", r#""a\"\\\n\t""#),
            ("a\u{a0}b\u{7f}c\0\u{7}", r#""a\u00a0b\x7fc\x00\a""#),
            ("\u{200b}\u{e0001}\u{fffd}", "\"\\u200b\\U000e0001\u{fffd}\""),
        ] {
            assert_eq!(quote(text), quoted);
        }
    }
}

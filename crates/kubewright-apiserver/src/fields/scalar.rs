//! Values whose text has to be of a form.

use base64::{DecodeError, Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;

use crate::{error::strconv, value::Value};

/// Source: `encoding/base64.CorruptInputError`.
pub(super) fn check_base64(text: &str) -> Result<(), String> {
    STANDARD.decode(text).map(|_| ()).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
            DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len(),
        };
        format!("illegal base64 data at input byte {at}")
    })
}

/// Reads a time to the second, in UTC.
///
/// Source: apimachinery `metav1.Time.UnmarshalJSON`.
pub(super) fn read_time(text: &mut Box<str>) -> Result<(), String> {
    let time = timestamp(text, "2006-01-02T15:04:05Z07:00")?;
    *text = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
    Ok(())
}

/// Reads a time to the microsecond, in UTC.
///
/// Source: apimachinery `metav1.MicroTime.UnmarshalJSON`.
///
/// # Differences from Go
/// A time without microseconds is one, too.
pub(super) fn read_micro_time(text: &mut Box<str>) -> Result<(), String> {
    let time = timestamp(text, "2006-01-02T15:04:05.000000Z07:00")?;
    *text = time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string().into();
    Ok(())
}

fn timestamp(text: &str, layout: &str) -> Result<Timestamp, String> {
    // Others take a space or a small letter between date and time.
    let separated = text.as_bytes().get(10) == Some(&b'T');
    text.parse().ok().filter(|_| separated).ok_or_else(|| {
        let text = strconv::quote(text);
        format!("parsing time {text} as \"{layout}\": cannot parse {text} as \"2006\"")
    })
}

/// Whether a value is an amount: a number, or the text of one with a suffix.
///
/// Source: apimachinery `resource.ParseQuantity`.
pub(super) fn check_quantity(value: &Value) -> Result<(), String> {
    let text = match value {
        Value::Number(_) => return Ok(()),
        Value::String(text) => text.trim(),
        _ => return Err(NO_QUANTITY.to_owned()),
    };
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let exponent = suffix.strip_prefix(['e', 'E']).filter(|rest| !rest.is_empty());
    let is_exponent = exponent.is_some_and(|rest| {
        let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    if !number.contains(|it: char| it.is_ascii_digit()) || number.matches('.').count() > 1 {
        return Err(NO_QUANTITY.to_owned());
    }
    if is_exponent || SUFFIXES.contains(&suffix) { Ok(()) } else { Err(NO_QUANTITY.to_owned()) }
}

const SUFFIXES: &[&str] =
    &["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NO_QUANTITY: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

#[cfg(test)]
mod tests {
    use crate::value::json;

    use super::*;

    #[test]
    fn amounts_are_told_from_other_texts() {
        for good in ["1", "-1.5", "100m", "1Gi", ".5", "1.", "1e3", "1E-3", "2E", " 7 "] {
            assert_eq!(check_quantity(&json!(good)), Ok(()), "{good}");
        }
        for bad in ["", "abc", "1x", "1.2.3", "Gi", "1 Gi", "1e+", "1ki"] {
            assert_eq!(check_quantity(&json!(bad)), Err(NO_QUANTITY.to_owned()), "{bad}");
        }
        assert!(check_quantity(&json!(0.5)).is_ok() && check_quantity(&json!([])).is_err());
    }

    #[test]
    fn times_are_read_in_any_zone_and_written_in_one() {
        let read = |text: &str, micro: bool| {
            let mut text: Box<str> = text.into();
            let read = if micro { read_micro_time(&mut text) } else { read_time(&mut text) };
            read.map(|()| text.into_string())
        };
        assert_eq!(read("2026-01-02T03:04:05-01:00", false), Ok("2026-01-02T04:04:05Z".to_owned()));
        assert_eq!(read("2026-01-02T03:04:05.9Z", false), Ok("2026-01-02T03:04:05Z".to_owned()));
        assert_eq!(read("2026-01-02T03:04:05.9Z", true), Ok("2026-01-02T03:04:05.900000Z".to_owned()));
        let problem = r#"parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006""#;
        assert_eq!(read("soon", false), Err(problem.to_owned()));
        assert!(read("2026-01-02 03:04:05Z", true).is_err());
    }

    #[test]
    fn bytes_are_texts_in_base64() {
        assert_eq!(check_base64("dzE="), Ok(()));
        assert_eq!(check_base64("dz!="), Err("illegal base64 data at input byte 2".to_owned()));
        assert_eq!(check_base64("dz"), Err("illegal base64 data at input byte 2".to_owned()));
    }
}

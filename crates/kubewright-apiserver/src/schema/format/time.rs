//! Dates, times and durations.

use jiff::{SignedDuration, civil::Date};

use super::are_digits;

/// `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let is_part = |part: &str, width: usize| part.len() == width && are_digits(part, width);
    let number = |part: &str| part.parse::<i16>().ok();
    if !(is_part(year, 4) && is_part(month, 2) && is_part(day, 2)) {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (number(year), number(month), number(day)) else {
        return false;
    };
    // Both are below 100, as they have two digits.
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else { return false };
    Date::new(year, month, day).is_ok()
}

/// A date, `T`, a time with or without a fraction of a second, and a zone.
///
/// Source: kube-openapi `strfmt.IsDateTime`, which takes any character for the point of the fraction.
pub(super) fn is_date_time(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time)
}

fn is_time(text: &str) -> bool {
    let (Some(clock), Some(rest)) = (text.get(..8), text.get(8..)) else { return false };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else { return false };
    let is_part = |part: &str, limit: &str| part.len() == 2 && are_digits(part, 2) && part <= limit;
    if !(is_part(hour, "23") && is_part(minute, "59") && is_part(second, "59")) {
        return false;
    }
    let zone = match rest.chars().next() {
        Some('z' | '+' | '-') => rest,
        Some(point) => {
            let after = rest[point.len_utf8()..].trim_start_matches(|c: char| c.is_ascii_digit());
            if after.len() + point.len_utf8() == rest.len() {
                return false;
            }
            after
        }
        None => return false,
    };
    zone == "z" || is_offset(zone)
}

/// `+02:00`.
fn is_offset(text: &str) -> bool {
    let Some((hours, minutes)) = text.strip_prefix(['+', '-']).and_then(|rest| rest.split_once(':')) else {
        return false;
    };
    hours.len() == 2 && minutes.len() == 2 && are_digits(hours, 2) && are_digits(minutes, 2)
}

/// What Go reads as a duration, or numbers with units, up to weeks, anywhere in the text.
///
/// Source: kube-openapi `strfmt.ParseDuration`.
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text) || has_unit(text)
}

/// Source: Go `time.ParseDuration`.
fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut total = SignedDuration::ZERO;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return false,
        };
        let Ok(number) = number.parse::<f64>() else { return false };
        let Ok(part) = SignedDuration::try_from_secs_f64(number * seconds) else { return false };
        let Some(sum) = total.checked_add(part).filter(|sum| sum.as_nanos() <= i128::from(i64::MAX)) else {
            return false;
        };
        total = sum;
        rest = after;
    }
    !text.is_empty() && text != "+" && text != "-"
}

/// Whether a whole number stands before a unit somewhere.
fn has_unit(text: &str) -> bool {
    let is_unit_char = |c: char| c.is_ascii_alphabetic() || c == 'µ';
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let after = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit());
        let after = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let end = after.find(|c: char| !is_unit_char(c)).unwrap_or(after.len());
        let unit = after[..end].to_lowercase();
        let is_known = |names: &&[&str]| {
            let (last, exact) = (names[names.len() - 1], &names[..names.len() - 1]);
            exact.contains(&unit.as_str()) || unit.starts_with(last)
        };
        if end > 0 && UNITS.iter().any(is_known) {
            return true;
        }
        rest = after;
    }
    false
}

/// The names of a unit; of the last, the beginning counts.
const UNITS: &[&[&str]] = &[
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

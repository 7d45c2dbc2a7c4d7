//! Numbers as Go has them.

use serde_json::Value;

/// An integer that Go would read as one; others are floating-point numbers to it.
pub(super) fn integer(value: &Value) -> Option<i64> {
    value.as_i64()
}

/// How Go prints a floating-point number with `%v`: `1`, `0.5`, `1e+21`.
pub(super) fn float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return value.to_string() };
    let power: i32 = exponent.parse().unwrap_or_default();
    if (-4..21).contains(&power) {
        return value.to_string();
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

/// Whether a floating-point number counts as an integer, with the tolerance of Go's `swag` library.
pub(super) fn is_integral(value: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    const TOLERANCE: f64 = 1e-9;
    if !(-LARGEST..=LARGEST).contains(&value) {
        return false;
    }
    let whole = value.trunc();
    let difference = (value - whole).abs();
    difference == 0.0 || (whole != 0.0 && difference / (value.abs() + whole.abs()) < TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_in_go() {
        for (value, text) in [
            (1.0, "1"),
            (0.5, "0.5"),
            (-2.25, "-2.25"),
            (1e21, "1e+21"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
            (123_456_789.0, "123456789"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn whole_numbers_are_integral() {
        for (value, integral) in [
            (1.0, true),
            (0.5, false),
            (-3.0, true),
            (0.0, true),
            (1e300, false),
            (1e-12, false),
            (3.000_000_000_1, true),
        ] {
            assert_eq!(is_integral(value), integral, "{value}");
        }
    }
}

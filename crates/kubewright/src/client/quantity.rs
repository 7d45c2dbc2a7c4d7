//! Quantities by value: `1`, `1000m` and `1e0` are the same.

/// Whether both are quantities of one value.
///
/// Source: apimachinery `resource.ParseQuantity`. What is finer than a billionth, or larger than an `i128` of billionths, is no quantity here.
pub(crate) fn is_same(left: &str, right: &str) -> bool {
    billionths(left).is_some_and(|left| billionths(right) == Some(left))
}

fn billionths(text: &str) -> Option<i128> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let (ten, two) = scale(suffix)?;
    let ten = ten + 9 - i32::try_from(fraction.len()).ok()?;
    let scaled = digits.checked_mul(1_i128.checked_shl(two)?)?;
    let power = 10_i128.checked_pow(ten.unsigned_abs())?;
    let value = match ten {
        0.. => scaled.checked_mul(power)?,
        _ if scaled % power == 0 => scaled / power,
        _ => return None,
    };
    Some(if text.starts_with('-') { -value } else { value })
}

/// The powers of ten and of two that a suffix stands for.
fn scale(suffix: &str) -> Option<(i32, u32)> {
    Some(match suffix {
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "" => (0, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        exponent => {
            let exponent: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            ((-30..=30).contains(&exponent).then_some(exponent)?, 0)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_the_same_by_value() {
        let same = [
            ("1", "1000m"),
            ("0.5", "500m"),
            ("1Ki", "1024"),
            ("1.5Gi", "1536Mi"),
            ("1e3", "1k"),
            ("1E", "1e18"),
            ("-1", "-1.000"),
            ("0", "0m"),
            (".5", "500m"),
            ("5.", "5"),
            ("+2", "2"),
            ("1e-3", "1m"),
            ("1000000n", "1m"),
            ("0.0", "0"),
        ];
        for (left, right) in same {
            assert!(is_same(left, right) && is_same(right, left), "{left} {right}");
        }
        let other = [
            ("1", "1m"),
            ("1", "2"),
            ("1k", "1Ki"),
            ("-1", "1"),
            ("1", "one"),
            ("", ""),
            ("x", "x"),
            ("1Kx", "1Kx"),
            (".", "."),
            ("1e99", "1e99"),
        ];
        for (left, right) in other {
            assert!(!is_same(left, right), "{left} {right}");
        }
    }
}

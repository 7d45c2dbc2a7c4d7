//! Numbers and codes with a checksum, colours, bytes.

use super::are_digits;

/// Source: kube-openapi `strfmt.IsBSONObjectID`.
pub(super) fn is_object_id(text: &str) -> bool {
    text.len() == 24 && is_hex(text)
}

/// 32 hexadecimal digits in groups, whose dashes may be absent. Some versions say what the groups begin with.
pub(super) fn is_uuid(text: &str, version: Option<char>, has_variant: bool) -> bool {
    let mut rest = text;
    for (index, width) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(width) else { return false };
        let begins = |with: &[char]| group.starts_with(with);
        if !is_hex(group)
            || (index == 2 && version.is_some_and(|version| !begins(&[version])))
            || (index == 3 && has_variant && !begins(&['8', '9', 'a', 'b', 'A', 'B']))
        {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// Nine digits and a check digit, which may be `X`; spaces and dashes do not count.
pub(super) fn is_isbn10(text: &str) -> bool {
    let code = without_gaps(text);
    let (true, Some((digits, last))) = (code.len() == 10, code.split_at_checked(9)) else { return false };
    if !are_digits(digits, 9) || !(last == "X" || are_digits(last, 1)) {
        return false;
    }
    let digit = |byte: u8| if byte == b'X' { 10 } else { u32::from(byte - b'0') };
    (1..).zip(code.bytes()).map(|(weight, byte)| weight * digit(byte)).sum::<u32>() % 11 == 0
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let code = without_gaps(text);
    if code.len() != 13 || !are_digits(&code, 13) {
        return false;
    }
    let weights = [1, 3].into_iter().cycle();
    weights.zip(code.bytes()).map(|(weight, byte)| weight * u32::from(byte - b'0')).sum::<u32>() % 10 == 0
}

/// The numbers of the great companies, with their check digit. What is no digit does not count.
///
/// Source: the `govalidator.CreditCard` of kube-openapi.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| digits.starts_with(prefix));
    let is_issued = match digits.len() {
        13 => begins(&["4"]),
        14 => begins(&["300", "301", "302", "303", "304", "305", "36", "38"]),
        15 => begins(&["34", "37", "2131", "1800"]),
        16 => begins(&["4", "51", "52", "53", "54", "55", "6011", "65", "35"]),
        _ => false,
    };
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum = digits.bytes().rev().enumerate().map(|(index, byte)| {
        let digit = u32::from(byte - b'0');
        if index % 2 == 1 { doubled(digit) } else { digit }
    });
    is_issued && sum.sum::<u32>() % 10 == 0
}

/// `123-45-6789`, with dashes or spaces.
pub(super) fn is_social_security_number(text: &str) -> bool {
    let groups: Vec<&str> = text.split(['-', ' ']).collect();
    matches!(groups.as_slice(), [a, b, c] if [(a, 3), (b, 2), (c, 4)].iter().all(|(group, width)| group.len() == *width && are_digits(group, *width)))
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && is_hex(digits)
}

pub(super) fn is_rgb_color(text: &str) -> bool {
    let Some(numbers) = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    let numbers: Vec<&str> = numbers.split(',').map(|number| number.trim_matches(SPACES)).collect();
    let is_part = |number: &&str| {
        are_digits(number, 3)
            && (number.len() == 1 || !number.starts_with('0'))
            && number.parse::<u16>().is_ok_and(|number| number < 256)
    };
    numbers.len() == 3 && numbers.iter().all(is_part)
}

/// Standard base64 with its padding, and not empty.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(is_digit)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn without_gaps(text: &str) -> String {
    text.chars().filter(|c| *c != '-' && !SPACES.contains(c)).collect()
}

/// What Go's regular expressions call a space.
const SPACES: &[char] = &['\t', '\n', '\u{c}', '\r', ' '];

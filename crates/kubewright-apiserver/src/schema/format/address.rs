//! Names and addresses of hosts.

use std::net::Ipv6Addr;

use super::are_digits;

/// Letters, digits, symbols and inner dashes; behind a dot, the last label is letters.
///
/// Source: kube-openapi `strfmt.IsHostname`.
pub(super) fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c == '-' || is_hostname_char(c))
    };
    if text.len() > 255 || !text.split('.').all(is_label) {
        return false;
    }
    match text.rsplit_once('.') {
        None => true,
        Some((_, last)) => last.chars().count() >= 2 && last.chars().all(char::is_alphabetic),
    }
}

fn is_hostname_char(c: char) -> bool {
    match c {
        _ if c.is_ascii_alphanumeric() => true,
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => true,
        _ if c.is_ascii() => false,
        // Letters and symbols, which leaves out spaces, digits and punctuation.
        _ => {
            c.is_alphabetic()
                || !(c.is_alphanumeric() || c.is_whitespace() || c.is_control() || is_punctuation(c))
        }
    }
}

/// The general punctuation, as far as it matters in names.
fn is_punctuation(c: char) -> bool {
    matches!(c, '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}')
        || ('\u{2010}'..='\u{2043}').contains(&c)
        || ('\u{2045}'..='\u{2051}').contains(&c)
        || ('\u{3001}'..='\u{3003}').contains(&c)
        || ('\u{3008}'..='\u{3011}').contains(&c)
}

/// Leading zeros are taken, as by Go before 1.17.
pub(super) fn is_ipv4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let is_part = |part: &&str| {
        part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse::<u32>().is_ok_and(|number| number < 256)
    };
    // An address that is both counts as one of IPv4, if it has a dot.
    (parts.len() == 4 && parts.iter().all(is_part)) || (text.contains('.') && is_ipv6(text))
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let limit = if is_ipv6(address) { 128 } else { 32 };
    let fits = are_digits(bits, 8) && bits.parse::<u32>().is_ok_and(|bits| bits <= limit);
    fits && (is_ipv4(address) || is_ipv6(address))
}

/// 6, 8 or 20 bytes, behind colons or dashes, or in pairs behind dots.
///
/// Source: Go `net.ParseMAC`.
pub(super) fn is_mac(text: &str) -> bool {
    let separator = if text.contains('.') {
        '.'
    } else if text.contains('-') {
        '-'
    } else {
        ':'
    };
    let width = if separator == '.' { 4 } else { 2 };
    let groups: Vec<&str> = text.split(separator).collect();
    let is_group = |group: &&str| group.len() == width && group.bytes().all(|byte| byte.is_ascii_hexdigit());
    matches!(groups.len() * width / 2, 6 | 8 | 20) && groups.iter().all(is_group)
}

/// Source: kube-openapi `strfmt.IsShortName`.
pub(super) fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_name(text)
}

/// Source: kube-openapi `strfmt.IsLongName`.
pub(super) fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_name)
}

fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

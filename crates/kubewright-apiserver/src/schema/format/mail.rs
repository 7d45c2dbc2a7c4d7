//! Addresses of mail.

/// An address, alone or in angle brackets behind a name.
///
/// Source: Go `net/mail.ParseAddress`, without its comments, groups and encoded words.
pub(super) fn is_address(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    match text.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
        None => is_addr_spec(text),
        Some((name, address)) => is_phrase(name.trim_matches([' ', '\t'])) && is_addr_spec(address),
    }
}

/// `local@domain`.
fn is_addr_spec(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    (is_dot_atom(local) || is_quoted(local)) && (is_dot_atom(domain) || is_literal(domain))
}

/// Words, or quoted text; may be absent.
fn is_phrase(text: &str) -> bool {
    is_quoted(text) || text.split([' ', '\t']).all(|word| word.chars().all(|c| is_atom_char(c) || c == '.'))
}

fn is_dot_atom(text: &str) -> bool {
    text.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atom_char))
}

fn is_quoted(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return false };
    let mut escaped = false;
    for c in inner.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return false,
            _ if c.is_control() && c != '\t' => return false,
            _ => {}
        }
    }
    !escaped
}

/// An IP address in brackets.
fn is_literal(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inner = inner.map(|inner| inner.strip_prefix("IPv6:").unwrap_or(inner));
    inner.is_some_and(|inner| inner.parse::<std::net::IpAddr>().is_ok())
}

/// Source: RFC 5322 `atext`, and everything beyond ASCII (RFC 6532).
fn is_atom_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c)
}

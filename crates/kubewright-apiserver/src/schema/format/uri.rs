//! Addresses of resources.

/// What may stand in the first line of a request: an absolute path, or a URI with a scheme.
///
/// Source: Go `net/url.ParseRequestURI`.
pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some(rest) = after_scheme(text) else { return false };
    let has_scheme = rest.len() < text.len();
    let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
    if let Some(hierarchy) = rest.strip_prefix("//").filter(|_| has_scheme) {
        let end = hierarchy.find('/').unwrap_or(hierarchy.len());
        let (authority, path) = hierarchy.split_at(end);
        return is_authority(authority) && has_good_escapes(path);
    }
    if rest.starts_with('/') { has_good_escapes(rest) } else { has_scheme }
}

/// What stands behind the scheme, or all of it where there is none.
fn after_scheme(text: &str) -> Option<&str> {
    for (index, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if index > 0 => {}
            ':' if index > 0 => return Some(&text[index + 1..]),
            ':' => return None,
            _ => return Some(text),
        }
    }
    Some(text)
}

/// `user:password@host:port`.
fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').map_or(("", text), |(user, host)| (user, host));
    let is_user_char = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(is_user_char) || !has_good_escapes(user) {
        return false;
    }
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) => (name, port),
            None => return false,
        },
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    is_port && !name.contains([' ', '"', '\\', '^', '`', '{', '|', '}', '%']) && !name.contains(['<', '>'])
}

/// Whether each `%` begins two hexadecimal digits.
fn has_good_escapes(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|rest| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
}

//! What names may look like.

/// What a name may look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// RFC 1123 subdomain, up to 253 characters.
    DnsSubdomain,
    /// RFC 1123 label, up to 63 characters.
    DnsLabel,
    /// RFC 1035 label, up to 63 characters: begins with a letter.
    Dns1035Label,
    /// Anything that fits one segment of a path (RBAC).
    PathSegment,
}

impl NameRule {
    /// What is wrong with `name`, in upstream's words; empty when nothing is.
    ///
    /// Source: apimachinery `util/validation` `IsDNS1123Subdomain`, `IsDNS1123Label`, `IsDNS1035Label`;
    /// `api/validation/path.IsValidPathSegmentName`.
    pub(crate) fn check(self, name: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let limit = match self {
            Self::DnsSubdomain => 253,
            Self::DnsLabel | Self::Dns1035Label => 63,
            Self::PathSegment => usize::MAX,
        };
        if name.len() > limit {
            problems.push(format!("must be no more than {limit} characters"));
        }
        match self {
            Self::DnsSubdomain if !name.split('.').all(is_label) => {
                problems.push(SUBDOMAIN_MESSAGE.to_owned());
            }
            Self::DnsLabel if !is_label(name) => problems.push(LABEL_MESSAGE.to_owned()),
            Self::Dns1035Label if !is_label(name) || !name.starts_with(|c: char| c.is_ascii_lowercase()) => {
                problems.push(DNS_1035_MESSAGE.to_owned());
            }
            Self::PathSegment if matches!(name, "." | "..") => problems.push(format!("may not be '{name}'")),
            Self::PathSegment => {
                for forbidden in ["/", "%"] {
                    if name.contains(forbidden) {
                        problems.push(format!("may not contain '{forbidden}'"));
                    }
                }
            }
            _ => {}
        }
        problems
    }
}

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

const SUBDOMAIN_MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_MESSAGE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_1035_MESSAGE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_their_rule() {
        let cases = [
            (NameRule::DnsSubdomain, "a.b-c.d", true),
            (NameRule::DnsSubdomain, "a..b", false),
            (NameRule::DnsSubdomain, "A", false),
            (NameRule::DnsLabel, "a.b", false),
            (NameRule::DnsLabel, "1-a", true),
            (NameRule::Dns1035Label, "1-a", false),
            (NameRule::Dns1035Label, "a-1", true),
            (NameRule::PathSegment, "system:node", true),
            (NameRule::PathSegment, "a/b", false),
            (NameRule::PathSegment, "..", false),
        ];
        for (rule, name, good) in cases {
            assert_eq!(rule.check(name).is_empty(), good, "{rule:?} {name}");
        }
        assert_eq!(NameRule::DnsLabel.check(&"a".repeat(64)), ["must be no more than 63 characters"]);
    }
}

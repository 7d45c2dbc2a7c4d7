//! What the keys and values of labels may look like; annotations and finalizers are named as labels are.

use super::rule::NameRule;

/// What is wrong with a name that may have a domain before it, in upstream's words; empty when nothing is.
///
/// Source: apimachinery `util/validation.IsQualifiedName`.
pub(crate) fn check_qualified_name(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else if prefix.len() > PREFIX_BYTES {
                problems.push(format!("prefix part must be no more than {PREFIX_BYTES} bytes"));
            } else {
                let found = NameRule::DnsSubdomain.check(prefix);
                problems.extend(found.iter().map(|problem| format!("prefix part {problem}")));
            }
            *name
        }
        _ => {
            return vec![format!(
                "a valid label key must {NAME_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_BYTES {
        problems.push(format!("name part must be no more than {NAME_BYTES} bytes"));
    }
    if !is_name(name) {
        problems.push(format!("name part must {NAME_MESSAGE}"));
    }
    problems
}

/// What is wrong with the value of a label, in upstream's words; empty when nothing is.
///
/// Source: apimachinery `util/validation.IsValidLabelValue`.
pub(crate) fn check_label_value(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > NAME_BYTES {
        problems.push(format!("must be no more than {NAME_BYTES} bytes"));
    }
    if !text.is_empty() && !is_name(text) {
        problems.push(VALUE_MESSAGE.to_owned());
    }
    problems
}

/// What is wrong with a key in a ConfigMap or a Secret, in upstream's words; empty when nothing is.
///
/// Source: apimachinery `util/validation.IsConfigMapKey`.
pub(crate) fn check_config_key(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > PREFIX_BYTES {
        problems.push(format!("must be no more than {PREFIX_BYTES} characters"));
    }
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || !text.chars().all(inner) {
        problems.push(KEY_MESSAGE.to_owned());
    }
    match text {
        "." | ".." => problems.push(format!("must not be '{text}'")),
        _ if text.starts_with("..") => problems.push("must not start with '..'".to_owned()),
        _ => {}
    }
    problems
}

fn is_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let outer = |c: char| c.is_ascii_alphanumeric();
    text.chars().all(inner) && text.starts_with(outer) && text.ends_with(outer)
}

const PREFIX_BYTES: usize = 253;
const NAME_BYTES: usize = 63;
const NAME_MESSAGE: &str = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const KEY_MESSAGE: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const VALUE_MESSAGE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

#[cfg(test)]
mod tests {
    use super::*;

    /// The first words of each problem.
    #[track_caller]
    fn check(found: &[String], expected: &[&str]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn names_may_have_a_domain() {
        let long = "a".repeat(64);
        let rows: [(&str, &[&str]); 10] = [
            ("a", &[]),
            ("example.com/My_Name.1", &[]),
            ("", &["name part must be non-empty", "name part must consist"]),
            ("b/", &["name part must be non-empty", "name part must consist"]),
            ("/b", &["prefix part must be non-empty"]),
            ("A.com/b", &["prefix part a lowercase RFC 1123 subdomain"]),
            (&format!("{}/b", "a".repeat(254)), &["prefix part must be no more than 253 bytes"]),
            ("a/b/c", &["a valid label key must consist"]),
            ("-a", &["name part must consist"]),
            (&long, &["name part must be no more than 63 bytes"]),
        ];
        for (text, expected) in rows {
            check(&check_qualified_name(text), expected);
        }
    }

    #[test]
    fn values_may_be_empty() {
        check(&check_label_value(""), &[]);
        check(&check_label_value("a_B.1"), &[]);
        check(&check_label_value("b c"), &["a valid label must be an empty string"]);
        check(&check_label_value(&"a".repeat(64)), &["must be no more than 63 bytes"]);
    }

    #[test]
    fn keys_of_maps_are_names_of_files() {
        check(&check_config_key("a.b_C-1"), &[]);
        check(&check_config_key(""), &["a valid config key must"]);
        check(&check_config_key("a b"), &["a valid config key must"]);
        check(&check_config_key(".."), &["must not be '..'"]);
        check(&check_config_key("..a"), &["must not start with '..'"]);
        check(&check_config_key(&"a".repeat(254)), &["must be no more than 253 characters"]);
    }
}

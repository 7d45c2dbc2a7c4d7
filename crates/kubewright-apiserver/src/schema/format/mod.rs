//! What a text has to look like.

mod address;
mod code;
mod mail;
mod time;
mod uri;

use super::node::Type;

/// A format that values are checked against.
#[derive(Debug, Clone)]
pub(super) struct Format {
    /// As the schema writes it.
    pub(super) name: String,
    /// How texts are judged; none for formats of numbers.
    pub(super) check: Option<fn(&str) -> bool>,
}

impl Format {
    /// A format, if values of the types are checked against it. Others are passed over.
    ///
    /// Source: apiextensions `validation.StripUnsupportedFormatsPostProcessorForVersion`.
    pub(super) fn find(name: &str, types: &[Type]) -> Option<Self> {
        let check = match types {
            [Type::Integer] => matches!(name, "int32" | "int64").then_some(None),
            [Type::Number] => matches!(name, "float" | "double").then_some(None),
            [Type::Object | Type::Array | Type::Boolean] => None,
            _ => text_format(name).map(Some),
        };
        Some(Self { name: name.to_owned(), check: check? })
    }
}

/// How a text of a format is judged. Dashes in the name do not count.
///
/// Source: kube-openapi `strfmt`.
fn text_format(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name.replace('-', "").as_str() {
        "bsonobjectid" => code::is_object_id,
        "uri" => uri::is_request_uri,
        "email" => mail::is_address,
        "hostname" => address::is_hostname,
        "ipv4" => address::is_ipv4,
        "ipv6" => address::is_ipv6,
        "cidr" => address::is_cidr,
        "mac" => address::is_mac,
        "uuid" => |text| code::is_uuid(text, None, false),
        "uuid3" => |text| code::is_uuid(text, Some('3'), false),
        "uuid4" => |text| code::is_uuid(text, Some('4'), true),
        "uuid5" => |text| code::is_uuid(text, Some('5'), true),
        "isbn" => |text| code::is_isbn10(text) || code::is_isbn13(text),
        "isbn10" => code::is_isbn10,
        "isbn13" => code::is_isbn13,
        "creditcard" => code::is_credit_card,
        "ssn" => code::is_social_security_number,
        "hexcolor" => code::is_hex_color,
        "rgbcolor" => code::is_rgb_color,
        "byte" => code::is_base64,
        "password" => |_| true,
        "date" => time::is_date,
        "duration" => time::is_duration,
        "datetime" => time::is_date_time,
        "k8sshortname" => address::is_short_name,
        "k8slongname" => address::is_long_name,
        _ => return None,
    })
}

/// Whether `text` is the digits of a number of at most `width`, and not empty.
fn are_digits(text: &str, width: usize) -> bool {
    !text.is_empty() && text.len() <= width && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, good: &[&str], bad: &[&str]) {
        let judge = Format::find(format, &[Type::String]).unwrap().check.unwrap();
        for text in good {
            assert!(judge(text), "{format} takes {text:?}");
        }
        for text in bad {
            assert!(!judge(text), "{format} refuses {text:?}");
        }
    }

    #[test]
    fn texts_of_a_format_are_told_from_others() {
        check(
            "bsonobjectid",
            &["507f1f77bcf86cd799439011"],
            &["507f1f77bcf86cd79943901", "507f1f77bcf86cd79943901g"],
        );
        check(
            "uri",
            &[
                "http://foo.bar#com",
                "http://foobar.com",
                "https://foobar.com:80/a?b=c%20d",
                "/a/b",
                "mailto:a@b",
                "http://[::1]:8080/",
                "*",
            ],
            &["", "foobar.com", "invalid.", ".com", "http://a b/", "http://a:x/", "/a%zz", "1http://a", ":a"],
        );
        check(
            "email",
            &["foo@bar.com", "a.b+c@d", "Barry <a@b.com>", "\"a b\"@c"],
            &["foo", "foo@", "@foo", "a..b@c", "a b@c", ""],
        );
        check("hostname", &["a", "a.bc", "1.ab", "Ab-c.de"], &["", "-a", "a-", "a_b", "a..bc", "a.b1"]);
        check("ipv4", &["1.2.3.4", "01.2.3.4"], &["1.2.3", "1.2.3.256", "::1", "a"]);
        check("ipv6", &["::1", "fe80::1", "::ffff:1.2.3.4"], &["1.2.3.4", "fe80", "::1%eth0", ":::"]);
        check(
            "cidr",
            &["1.2.3.4/8", "::/0", "10.0.0.0/32"],
            &["1.2.3.4", "1.2.3.4/33", "::/129", "1.2.3.4/-1"],
        );
        check(
            "mac",
            &["01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "01:23:45:67:89:ab:cd:ef"],
            &["01:23:45:67:89", "01:23-45:67:89:ab", "0123.4567", "01:23:45:67:89:ag"],
        );
        check(
            "uuid",
            &["a8098c1a-f86e-11da-bd1a-00112444be1e", "A8098C1AF86E11DABD1A00112444BE1E"],
            &["a8098c1a-f86e-11da-bd1a-00112444be1", "not-a-uuid"],
        );
        check("uuid3", &["bcd02e22-68f0-3046-a512-327cca9def8f"], &["bcd02e22-68f0-4046-a512-327cca9def8f"]);
        check("uuid4", &["025b0d74-00a2-4048-bf57-227c5111bb34"], &["025b0d74-00a2-4048-cf57-227c5111bb34"]);
        check("uuid5", &["886313e1-3b8a-5372-9b90-0c9aee199e5d"], &["886313e1-3b8a-4372-9b90-0c9aee199e5d"]);
        check("isbn", &["0321751043", "978-0321751041"], &["836217463", "978-0321751042"]);
        check("isbn10", &["0321751043", "0-8044-2957-X"], &["0321751044", "978-0321751041"]);
        check("isbn13", &["978-0321751041"], &["978-0321751040"]);
        check(
            "creditcard",
            &["4111-1111-1111-1111", "4111111111111111"],
            &["9999-9999-9999-999", "4111111111111112"],
        );
        check("ssn", &["111-11-1111", "111 11 1111"], &["999 99 999", "111111111"]);
        check("hexcolor", &["#FFFFFF", "fff", "#0a0"], &["#ffffffz", "#ffff", "#"]);
        check(
            "rgbcolor",
            &["rgb(100,100,100)", "rgb( 0 , 12, 255 )"],
            &["rgb(300,0,0)", "rgb(1,2)", "rgba(1,2,3)"],
        );
        check("byte", &["ZWxpemFiZXRocG9zZXk=", "YQ=="], &["", "a", "ZWxpemFiZXRocG9zZXk", "YQ=a"]);
        check("password", &["super secret", ""], &[]);
        check(
            "date",
            &["2014-12-15", "2024-02-29"],
            &["2014-12-32", "2023-02-29", "14-12-15", "2014-12-15T00:00:00Z"],
        );
        check(
            "duration",
            &["22 ns", "1h30m", "-1.5s", "3 days", "1us", "1µs", "0", "2 weeks", "5 hours"],
            &["zz", "", "5", "1.5 x"],
        );
        check(
            "date-time",
            &["2014-12-15T19:30:20Z", "2014-12-15t19:30:20.123+02:00", "2011-08-18T19:03:37.000000000+01:00"],
            &["2014-12-15", "2014-12-15T24:00:00Z", "2014-12-15T19:30:20", "2014-13-15T19:30:20Z"],
        );
        check("k8s-short-name", &["a", "a-1"], &["", "A", "a.b", "-a", "a-"]);
        check("k8s-long-name", &["a.b", "a-1.c"], &["", "A.b", "a..b", "a.-b"]);
    }

    #[test]
    fn formats_count_for_their_types_only() {
        let is_checked = |format, types: &[Type]| Format::find(format, types).is_some();
        assert!(is_checked("int32", &[Type::Integer]) && !is_checked("int32", &[Type::String]));
        assert!(is_checked("double", &[Type::Number]) && !is_checked("double", &[Type::Integer]));
        assert!(is_checked("datetime", &[]) && !is_checked("date-time", &[Type::Object]));
        assert!(is_checked("ipv4", &[Type::Integer, Type::String]) && !is_checked("ip", &[Type::String]));
    }
}

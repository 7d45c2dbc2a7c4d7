//! The query of a request.

use crate::error::{Status, strconv};

/// The query of a request, decoded. A parameter may come more than once; most options read its first value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: Option<&str>) -> Self {
        Self(form_urlencoded::parse(text.unwrap_or_default().as_bytes()).into_owned().collect())
    }

    /// All values of a parameter.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The text of a parameter, empty when absent.
    pub(crate) fn text(&self, name: &str) -> String {
        self.first(name).unwrap_or_default().to_owned()
    }

    /// Everything but `0` and `false` is true, also nothing after the name.
    ///
    /// Source: apimachinery `runtime.Convert_Slice_string_To_bool`.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.first(name).map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// # Errors
    /// 400 for what is no number, also for nothing after the name.
    ///
    /// Source: apimachinery `runtime.Convert_Slice_string_To_int64`.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, Status> {
        self.first(name).map(strconv::parse_int).transpose().map_err(Status::bad_request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_converted_as_upstream_converts_them() {
        let query = Query::parse(Some("a=yes&b=False&c=0&d=&e=00&a=0&n=-7&n=x&m=%20"));
        let flags = ["a", "b", "c", "d", "e", "absent"].map(|name| query.flag(name));
        assert_eq!(flags, [Some(true), Some(false), Some(false), Some(true), Some(true), None]);
        assert_eq!(query.integer("n"), Ok(Some(-7)));
        assert_eq!(query.integer("absent"), Ok(None));
        for (name, shown) in [("d", ""), ("m", " "), ("a", "yes")] {
            let refused = query.integer(name).unwrap_err();
            let message = format!("strconv.ParseInt: parsing \"{shown}\": invalid syntax");
            assert_eq!((refused.code.as_u16(), refused.message), (400, message));
        }
        assert_eq!(query.all("n").collect::<Vec<_>>(), ["-7", "x"]);
    }
}

//! In which form the client wants the answer.

use http::{HeaderMap, header};

use crate::{
    context::Query,
    error::{FieldError, Status},
};

/// The form and the encoding of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accept {
    pub(crate) form: Form,
    pub(crate) encoding: Encoding,
}

/// As what an object is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As itself.
    Object,
    /// As a row of a table.
    Table(IncludeObject),
    /// As its metadata alone.
    Metadata,
}

/// What a row of a table brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum IncludeObject {
    None,
    #[default]
    Metadata,
    Object,
}

/// How the answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
}

impl Accept {
    /// Plain JSON.
    pub(crate) const JSON: Self = Self { form: Form::Object, encoding: Encoding::Json };

    /// Reads the `Accept` header; the first clause that can be served wins.
    ///
    /// # Errors
    /// 406 when none can; 400 for a table of what does not exist.
    ///
    /// # Differences from Go
    /// Upstream notices the wrong option of a table when it writes the answer, after what was asked is done.
    ///
    /// Source: apiserver `negotiation.NegotiateMediaTypeOptions`, `handlers.optionsForTransform`.
    pub(crate) fn negotiate(headers: &HeaderMap, query: &Query) -> Result<Self, Status> {
        let mut clauses = clauses(headers).peekable();
        if clauses.peek().is_none() {
            return Ok(Self::JSON);
        }
        let found = clauses.find_map(|clause| Self::serve(&clause));
        let mut accept = found.ok_or_else(|| Status::not_acceptable(SERVED))?;
        if let Form::Table(include) = &mut accept.form {
            *include = IncludeObject::read(query)?;
        }
        Ok(accept)
    }

    fn serve(clause: &str) -> Option<Self> {
        let mut parts = clause.split(';').map(str::trim);
        let encoding = match parts.next()? {
            "application/json" | "application/*" | "*/*" => Encoding::Json,
            "application/yaml" => Encoding::Yaml,
            _ => return None,
        };
        let (mut form, mut version, mut group) = (Form::Object, "v1", "meta.k8s.io");
        for parameter in parts {
            match parameter.split_once('=')? {
                ("as", "Table") => form = Form::Table(IncludeObject::default()),
                ("as", "PartialObjectMetadata" | "PartialObjectMetadataList") => form = Form::Metadata,
                ("v", value) => version = value,
                ("g", value) => group = value,
                ("stream", "watch") => {}
                ("as" | "stream", _) => return None,
                // Quality and character set change nothing here.
                _ => {}
            }
        }
        let served = form == Form::Object || (version == "v1" && group == "meta.k8s.io");
        served.then_some(Self { form, encoding })
    }
}

impl IncludeObject {
    /// Source: apimachinery `validation.ValidateTableOptions`.
    fn read(query: &Query) -> Result<Self, Status> {
        match query.first("includeObject") {
            None | Some("" | "Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::None),
            Some("Object") => Ok(Self::Object),
            Some(other) => {
                let detail = "must be 'Metadata', 'Object', 'None', or empty";
                let error = FieldError::invalid("includeObject", Some(&other.into()), detail);
                Err(Status::bad_request(format!("Unable to convert to Table as requested: {error}")))
            }
        }
    }
}

/// The clauses of all `Accept` headers, in order.
pub(crate) fn clauses(headers: &HeaderMap) -> impl Iterator<Item = String> {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let clauses: Vec<String> = values
        .flat_map(|value| value.split(','))
        .map(|clause| clause.trim().to_owned())
        .filter(|clause| !clause.is_empty())
        .collect();
    clauses.into_iter()
}

const SERVED: &[&str] = &["application/json", "application/yaml"];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &str, expected: Option<(Form, Encoding)>) {
        let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
        let found =
            Accept::negotiate(&headers, &Query::default()).ok().map(|accept| (accept.form, accept.encoding));
        assert_eq!(found, expected, "{accept}");
    }

    #[test]
    fn first_clause_that_can_be_served_wins() {
        let table = Form::Table(IncludeObject::Metadata);
        check("application/json", Some((Form::Object, Encoding::Json)));
        check("*/*", Some((Form::Object, Encoding::Json)));
        check("application/yaml", Some((Form::Object, Encoding::Yaml)));
        check("application/vnd.kubernetes.protobuf,application/json", Some((Form::Object, Encoding::Json)));
        check(
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
            Some((table, Encoding::Json)),
        );
        check(
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json",
            Some((Form::Object, Encoding::Json)),
        );
        check(
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            Some((Form::Metadata, Encoding::Json)),
        );
        check("application/vnd.kubernetes.protobuf", None);
        check("text/html", None);
    }

    #[test]
    fn no_header_means_json() {
        assert_eq!(Accept::negotiate(&HeaderMap::new(), &Query::default()), Ok(Accept::JSON));
    }

    #[test]
    fn rows_bring_along_what_the_query_says() {
        let read = |accept: &'static str, query: &str| {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
            Accept::negotiate(&headers, &Query::parse(Some(query))).map(|accept| accept.form)
        };
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        for (query, include) in [
            ("", IncludeObject::Metadata),
            ("includeObject=", IncludeObject::Metadata),
            ("includeObject=None", IncludeObject::None),
            ("includeObject=Object", IncludeObject::Object),
        ] {
            assert_eq!(read(table, query), Ok(Form::Table(include)));
        }
        let message = "Unable to convert to Table as requested: includeObject: Invalid value: \"none\": must be 'Metadata', 'Object', 'None', or empty";
        assert_eq!(read(table, "includeObject=none").unwrap_err().message, message);
        assert_eq!(read("application/json", "includeObject=none"), Ok(Form::Object));
    }
}

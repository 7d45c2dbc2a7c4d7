//! Reading the fields of an object whose types are known.

use crate::value::{Map, Value};

/// A JSON object that Go would read into a struct.
///
/// A field of the wrong type is refused in the words of Go's `encoding/json`. `null` is a field that is absent, as
/// there, and other fields are passed over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Struct<'a> {
    /// The name of the Go struct, then the path of its fields from the document's root, `Preconditions.preconditions.`.
    path: &'a str,
    fields: &'a Map,
}

impl<'a> Struct<'a> {
    pub(crate) fn new(path: &'a str, fields: &'a Map) -> Self {
        Self { path, fields }
    }

    pub(crate) fn string(&self, field: &str, go_type: &str) -> Result<Option<String>, String> {
        self.read(field, go_type, |value| value.as_str().map(str::to_owned))
    }

    pub(crate) fn flag(&self, field: &str) -> Result<Option<bool>, String> {
        self.read(field, "bool", Value::as_bool)
    }

    pub(crate) fn integer(&self, field: &str) -> Result<Option<i64>, String> {
        self.read(field, "int64", Value::as_i64)
    }

    pub(crate) fn strings(&self, field: &str) -> Result<Vec<String>, String> {
        let items = self.read(field, "[]string", |value| value.as_array())?;
        let text = |item: &Value| match item {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text.to_string()),
            other => Err(mismatch(other, &format!("{}{field}", self.path), "string")),
        };
        items.into_iter().flatten().map(text).collect()
    }

    /// The fields of another struct.
    pub(crate) fn object(&self, field: &str, go_type: &str) -> Result<Option<&'a Map>, String> {
        self.read(field, go_type, Value::as_object)
    }

    fn read<T>(
        &self,
        field: &str,
        go_type: &str,
        convert: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.fields.get(field).filter(|value| !value.is_null()) else { return Ok(None) };
        match convert(value) {
            Some(converted) => Ok(Some(converted)),
            None => Err(mismatch(value, &format!("{}{field}", self.path), go_type)),
        }
    }
}

/// What Go says of a value that does not fit its field.
fn mismatch(value: &Value, field: &str, go_type: &str) -> String {
    format!("json: cannot unmarshal {} into Go struct field {field} of type {go_type}", found(value, go_type))
}

fn found(value: &Value, go_type: &str) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        // A number of the wrong kind is shown, a number where none belongs is not.
        Value::Number(number) if go_type == "int64" => return format!("number {number}"),
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    kind.to_owned()
}

/// The fields of a whole document, and the kind that it says it is.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    api_version: String,
    kind: String,
    fields: Map,
}

impl Typed {
    /// Reads a document that is an object, or `null`.
    ///
    /// Source: apimachinery `serializer/json.SimpleMetaFactory.Interpret`.
    pub(crate) fn read(document: Value) -> Result<Self, String> {
        let fields = match document {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            other => {
                let found = found(&other, TYPE_META);
                return Err(format!("json: cannot unmarshal {found} into Go value of type {TYPE_META}"));
            }
        };
        let document = Struct::new(".", &fields);
        let api_version = document.string("apiVersion", "string")?.unwrap_or_default();
        let kind = document.string("kind", "string")?.unwrap_or_default();
        Ok(Self { api_version, kind, fields })
    }

    /// The fields, if the document is `kind` of any version or does not say what it is.
    ///
    /// Source: apimachinery `runtime.Scheme`, in which options are registered under every version.
    pub(crate) fn expect(self, kind: &str, default_version: &str) -> Result<Map, String> {
        if self.api_version.matches('/').count() > 1 {
            return Err(format!("unexpected GroupVersion string: {}", self.api_version));
        }
        if self.kind.is_empty() || self.kind == kind {
            return Ok(self.fields);
        }
        let version = if self.api_version.is_empty() { default_version } else { &self.api_version };
        Err(format!(
            "no kind \"{}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\"",
            self.kind
        ))
    }
}

const TYPE_META: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";

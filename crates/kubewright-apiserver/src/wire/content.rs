//! What the client has sent.

use http::{HeaderMap, header};

use super::protobuf::{self, Envelope, ProtobufError};
use crate::{
    error::Status,
    kind::Kind,
    object::{Object, Typed, from_json, from_yaml},
    value::{Map, Value},
};

/// How large a body may be. Larger ones answer 413.
pub(crate) const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// Decodes an object of a kind from JSON or YAML, or from protobuf when the kind is built in.
///
/// # Errors
/// 415 for other media types, 400 for what is no object of the kind.
pub(crate) fn decode(kind: &Kind, headers: &HeaderMap, body: &[u8]) -> Result<Object, Status> {
    if media_type(headers) == protobuf::MEDIA_TYPE {
        // Only the kinds in the table of field numbers have a form in protobuf.
        let is_known = !kind.is_custom;
        return if is_known {
            decode_protobuf(kind, body)
        } else {
            Err(Status::unsupported_media_type(TEXT_TYPES))
        };
    }
    let value = decode_value(headers, body).map_err(|problem| problem.into_status(&kind.kind, body))?;
    let Value::Object(map) = value else {
        return Err(unrecognized(kind, body, "cannot unmarshal into a Go struct of an object"));
    };
    let mut object = Object(map);
    check_shape(kind, &mut object, body)?;
    Ok(object)
}

fn decode_protobuf(kind: &Kind, body: &[u8]) -> Result<Object, Status> {
    let envelope = Envelope::open(body).map_err(|error| unreadable(&kind.kind, &error, body))?;
    let (api_version, name) = (envelope.api_version.as_str(), envelope.kind.as_str());
    // A body that does not say what it is, is of the kind of the path.
    if !name.is_empty() && (api_version, name) != (&kind.api_version(), &kind.kind) {
        return Err(other_kind(kind, api_version, name));
    }
    let mut object = Object(Map::new());
    object.0.insert("apiVersion".into(), kind.api_version().into());
    object.0.insert("kind".into(), kind.kind.clone().into());
    let fields = envelope.decode(&kind.api_version(), &kind.kind).map_err(|error| {
        Status::bad_request(format!(
            "{} in version \"{}\" cannot be handled as a {}: {error}",
            kind.kind, kind.version, kind.kind
        ))
    })?;
    object.0.extend(fields);
    Ok(object)
}

/// Source: apimachinery `runtime.Scheme`, whose internal versions have the name of their group.
fn other_kind(kind: &Kind, api_version: &str, name: &str) -> Status {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let problem = if !protobuf::is_known(api_version, name) {
        ProtobufError::UnknownKind { api_version: api_version.to_owned(), kind: name.to_owned() }.to_string()
    } else if name == kind.kind && api_version.split_once('/').unwrap_or_default().0 == kind.group {
        return Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            kind.api_version()
        ));
    } else {
        let internal = kind.group.split('.').next().filter(|group| !group.is_empty()).unwrap_or("core");
        format!("converting ({version}.{name}) to ({internal}.{}): unknown conversion", kind.kind)
    };
    Status::bad_request(format!(
        "{name} in version \"{version}\" cannot be handled as a {}: {problem}",
        kind.kind
    ))
}

/// Decodes the options of a deletion, also for custom resources from protobuf.
///
/// # Errors
/// 415 for other media types, 400 for what is no `DeleteOptions`.
pub(crate) fn decode_delete_options(headers: &HeaderMap, body: &[u8]) -> Result<Map, Status> {
    const KIND: (&str, &str) = ("meta.k8s.io/v1", "DeleteOptions");
    if media_type(headers) == protobuf::MEDIA_TYPE {
        return decode_message(body, KIND.0, KIND.1).map_err(|error| Status::bad_request(error.to_string()));
    }
    let value = decode_value(headers, body).map_err(|problem| match problem.text() {
        None => Status::unsupported_media_type(BODY_TYPES),
        Some(text) => Status::bad_request(text),
    })?;
    let typed = Typed::read(value).map_err(|problem| {
        Status::bad_request(format!("couldn't get version/kind; json parse error: {problem}"))
    })?;
    typed.expect(KIND.1, KIND.0).map_err(Status::bad_request)
}

/// Decodes an object of a built-in kind that has no path of its own. What the body does not say, it is.
///
/// # Errors
/// 415 for other media types, 400 for what is no object of the kind.
pub(crate) fn decode_as(
    api_version: &str,
    kind: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Object, Status> {
    let mut fields = if media_type(headers) == protobuf::MEDIA_TYPE {
        decode_message(body, api_version, kind).map_err(|error| unreadable(kind, &error, body))?
    } else {
        match decode_value(headers, body).map_err(|problem| problem.into_status(kind, body))? {
            Value::Object(fields) => fields,
            _ => return Err(unreadable(kind, &"it is no object", body)),
        }
    };
    for (field, expected) in [("apiVersion", api_version), ("kind", kind)] {
        let found = fields.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        if found.is_empty() {
            fields.insert(field.into(), expected.into());
        } else if found != expected {
            let text =
                format!("the {field} in the data ({found}) does not match the expected one ({expected})");
            return Err(Status::bad_request(text));
        }
    }
    Ok(Object(fields))
}

/// Decodes a `Scale`, which is no kind of its own.
///
/// # Errors
/// As [`decode_delete_options`].
pub(crate) fn decode_scale(headers: &HeaderMap, body: &[u8]) -> Result<Value, Status> {
    const KIND: (&str, &str) = ("autoscaling/v1", "Scale");
    if media_type(headers) == protobuf::MEDIA_TYPE {
        let fields = decode_message(body, KIND.0, KIND.1);
        return fields.map(Value::Object).map_err(|error| unreadable(KIND.1, &error, body));
    }
    decode_value(headers, body).map_err(|problem| problem.into_status(KIND.1, body))
}

/// The version that a message in protobuf says it has does not matter, as upstream takes options of any version.
fn decode_message(body: &[u8], api_version: &str, kind: &str) -> Result<Map, ProtobufError> {
    let envelope = Envelope::open(body)?;
    if !envelope.kind.is_empty() && envelope.kind != kind {
        let Envelope { api_version, kind, .. } = envelope;
        return Err(ProtobufError::UnknownKind { api_version, kind });
    }
    envelope.decode(api_version, kind)
}

/// Whether an object is of the kind and has the metadata of an object.
///
/// # Errors
/// 400 when it is not.
pub(crate) fn check_shape(kind: &Kind, object: &mut Object, body: &[u8]) -> Result<(), Status> {
    if !kind.is_custom {
        // Built-in handlers know what they expect and fill in what is missing, as upstream's do.
        for (field, expected) in [("apiVersion", kind.api_version()), ("kind", kind.kind.clone())] {
            if object.0.get(field).is_none_or(|value| value.is_null() || value == "") {
                object.0.insert(field.into(), expected.into());
            }
        }
    }
    let (api_version, name) = (object.str_at("/apiVersion").to_owned(), object.str_at("/kind").to_owned());
    if !kind.is_custom && (&api_version, &name) != (&kind.api_version(), &kind.kind) {
        return Err(other_kind(kind, &api_version, &name));
    }
    if name.is_empty() {
        return Err(unrecognized(kind, body, "Object 'Kind' is missing"));
    } else if api_version != kind.api_version() {
        return Err(Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            kind.api_version()
        )));
    } else if name != kind.kind {
        return Err(Status::bad_request(format!(
            "{name} in version \"{}\" cannot be handled as a {}: no kind \"{name}\" is registered for this path",
            kind.version, kind.kind
        )));
    }
    // The fields of built-in kinds are all read by their types, once this is known.
    if kind.is_custom { check_metadata(kind, object) } else { Ok(()) }
}

/// Whether a body is JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    matches!(media_type(headers).as_str(), "" | "application/json")
}

/// Decodes any JSON or YAML.
fn decode_value(headers: &HeaderMap, body: &[u8]) -> Result<Value, Undecodable> {
    match media_type(headers).as_str() {
        "" | "application/json" => from_json(body).map_err(Undecodable::Json),
        "application/yaml" => from_yaml(body).map_err(Undecodable::Yaml),
        _ => Err(Undecodable::MediaType),
    }
}

/// Why a body could not be read.
#[derive(Debug)]
enum Undecodable {
    MediaType,
    Json(String),
    Yaml(String),
}

impl Undecodable {
    /// The answer, for a body that should have been of a kind.
    fn into_status(self, kind: &str, body: &[u8]) -> Status {
        match self.text() {
            None => Status::unsupported_media_type(BODY_TYPES),
            Some(error) => unreadable(kind, &error, body),
        }
    }

    /// What is wrong with a body of a form that is understood.
    fn text(&self) -> Option<String> {
        match self {
            Self::MediaType => None,
            Self::Json(error) => Some(format!("couldn't get version/kind; json parse error: {error}")),
            Self::Yaml(error) => Some(format!("couldn't get version/kind; yaml parse error: {error}")),
        }
    }
}

/// Source: apiserver `handlers.transformDecodeError`.
fn unreadable(kind: &str, error: &dyn std::fmt::Display, body: &[u8]) -> Status {
    let (shown, more) = if body.len() > SHOWN_BYTES { (&body[..SHOWN_BYTES], " ...") } else { (body, "") };
    let summary = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(shown).into_owned(),
        Some(_) => shown.iter().fold(String::new(), |dump, byte| format!("{dump}{byte:02x}")),
    };
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {error} ({summary}{more})"
    ))
}

/// How much of a body is shown that nobody can read.
const SHOWN_BYTES: usize = 30;

/// The forms of bodies that are understood.
///
/// # Differences from Go
/// Upstream names protobuf for custom resources too, and panics when such a body comes. Here that is a 415 that names
/// [`TEXT_TYPES`].
const BODY_TYPES: &[&str] = &["application/json", "application/yaml", protobuf::MEDIA_TYPE];

/// The forms that a custom resource can have.
const TEXT_TYPES: &[&str] = &["application/json", "application/yaml"];

/// How a patch says what to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchType {
    Json,
    Merge,
    Strategic,
}

/// Reads the content type of a patch.
///
/// # Errors
/// 415 for a patch that is not among [`patch_types`].
pub(crate) fn patch_type(kind: &Kind, headers: &HeaderMap) -> Result<PatchType, Status> {
    match media_type(headers).as_str() {
        JSON_PATCH => Ok(PatchType::Json),
        MERGE_PATCH => Ok(PatchType::Merge),
        STRATEGIC_PATCH if !kind.is_custom => Ok(PatchType::Strategic),
        _ => Err(Status::unsupported_media_type(patch_types(kind))),
    }
}

/// The patches that a kind understands. Nothing is known of how the lists of custom resources are merged.
pub(crate) fn patch_types(kind: &Kind) -> &'static [&'static str] {
    let all = &[JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH];
    if kind.is_custom { &all[..2] } else { all }
}

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn unrecognized(kind: &Kind, body: &[u8], problem: &str) -> Status {
    let text = String::from_utf8_lossy(body);
    Status::bad_request(format!(
        "{} in version \"{}\" cannot be handled as a {}: {problem} in '{text}'",
        kind.kind, kind.version, kind.kind
    ))
}

/// The server works with these fields of the metadata.
fn check_metadata(kind: &Kind, object: &Object) -> Result<(), Status> {
    let fail = |field: &str, found: &Value, wanted: &str| {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        Err(Status::bad_request(format!(
            "{} in version \"{}\" cannot be handled as a {}: json: cannot unmarshal {found} into Go struct field ObjectMeta.{field} of type {wanted}",
            kind.kind, kind.version, kind.kind
        )))
    };
    match object.0.get("metadata") {
        None | Some(Value::Null | Value::Object(_)) => {}
        Some(other) => return fail("metadata", other, "v1.ObjectMeta"),
    }
    let is_string_map = |value: &Value| {
        value.as_object().is_some_and(|map| map.values().all(Value::is_string)) || value.is_null()
    };
    for (field, value) in object.metadata() {
        match field.as_str() {
            "name" | "generateName" | "namespace" | "uid" | "resourceVersion" | "creationTimestamp"
            | "deletionTimestamp"
                if !value.is_string() && !value.is_null() =>
            {
                return fail(&format!("metadata.{field}"), value, "string");
            }
            "labels" | "annotations" if !is_string_map(value) => {
                return fail(&format!("metadata.{field}"), value, "map[string]string");
            }
            "finalizers"
                if !value.is_null()
                    && !value.as_array().is_some_and(|list| list.iter().all(Value::is_string)) =>
            {
                return fail("metadata.finalizers", value, "[]string");
            }
            "ownerReferences"
                if !value.is_null()
                    && !value.as_array().is_some_and(|list| list.iter().all(Value::is_object)) =>
            {
                return fail("metadata.ownerReferences", value, "[]v1.OwnerReference");
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kinds;

    fn decode_pod(content_type: &str, body: &str) -> Result<Object, Status> {
        let kind = Kinds::new().current().find("", "v1", "pods").unwrap().clone();
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, content_type.parse().unwrap())]);
        decode(&kind, &headers, body.as_bytes())
    }

    #[test]
    fn json_and_yaml_are_read() {
        let json = decode_pod("application/json", r#"{"metadata":{"name":"a"}}"#).unwrap();
        assert_eq!((json.name(), json.str_at("/kind")), ("a", "Pod"));
        let yaml = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  n: 12345678901\n";
        let yaml = decode_pod("application/yaml; charset=utf-8", yaml).unwrap();
        assert_eq!(yaml.at("/spec/n").and_then(Value::as_i64), Some(12_345_678_901));
    }

    #[test]
    fn other_bodies_are_refused() {
        for (content_type, body, code) in [
            ("application/vnd.kubernetes.protobuf", "k8s\0", 400),
            ("text/plain", "{}", 415),
            ("application/json", "{", 400),
            ("application/json", "[]", 400),
            ("application/json", r#"{"apiVersion":"v2","kind":"Pod"}"#, 400),
            ("application/json", r#"{"apiVersion":"v1","kind":"Node"}"#, 400),
        ] {
            assert_eq!(decode_pod(content_type, body).unwrap_err().code.as_u16(), code, "{body}");
        }
        let wrong = decode_pod("application/json", r#"{"apiVersion":"a/v2","kind":"Pod"}"#).unwrap_err();
        assert_eq!(
            wrong.message,
            "Pod in version \"v2\" cannot be handled as a Pod: no kind \"Pod\" is registered for version \"a/v2\" in scheme \"pkg/runtime/scheme.go:111\""
        );
    }

    #[test]
    fn protobuf_of_another_kind_is_refused_in_the_words_of_upstream() {
        let body = |api_version: &str, name: &str| {
            let text = |tag: u8, text: &str| {
                [&[tag, u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat()
            };
            let kind = [text(0x0a, api_version), text(0x12, name)].concat();
            [b"k8s\0\x0a", &[u8::try_from(kind.len()).unwrap()][..], &kind].concat()
        };
        let kind = Kinds::new().current().find("", "v1", "configmaps").unwrap().clone();
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, protobuf::MEDIA_TYPE.parse().unwrap())]);
        for (api_version, name, message) in [
            (
                "apps/v1",
                "Deployment",
                "Deployment in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown conversion",
            ),
            (
                "v1",
                "Nope",
                "Nope in version \"v1\" cannot be handled as a ConfigMap: no kind \"Nope\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"",
            ),
        ] {
            let refused = decode(&kind, &headers, &body(api_version, name)).unwrap_err();
            assert_eq!((refused.code.as_u16(), refused.message.as_str()), (400, message));
        }
        let object = decode(&kind, &headers, &body("", "")).unwrap();
        assert_eq!((object.str_at("/apiVersion"), object.str_at("/kind")), ("v1", "ConfigMap"));
        for (body, message) in [
            (
                &b""[..],
                "the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)",
            ),
            (
                b"k8s\0",
                "the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)",
            ),
        ] {
            assert_eq!(decode(&kind, &headers, body).unwrap_err().message, message);
        }
        let wrong = decode_delete_options(&headers, &body("v1", "ConfigMap")).unwrap_err();
        assert!(wrong.message.starts_with("no kind \"ConfigMap\" is registered"), "{}", wrong.message);
        assert!(decode_delete_options(&headers, &body("apps/v1", "DeleteOptions")).is_ok());
    }
}

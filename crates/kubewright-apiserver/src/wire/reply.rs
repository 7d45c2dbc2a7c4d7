//! The answer, and how it is written in the form that the client wants.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderValue, Response, StatusCode, header};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    accept::{Accept, Encoding, Form},
    body::Body,
    status::Status,
    table::Table,
};
use crate::{kind::Kind, storage::Document};

/// The answer to a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// One object of a kind.
    Object { code: StatusCode, kind: Arc<Kind>, document: Document },
    /// Many objects of a kind.
    List(List),
    /// Anything else that is an object: a Status, a Scale.
    Value { code: StatusCode, value: Value },
    /// A body of its own: the frames of a watch.
    Stream(Body),
}

/// Many objects of a kind, or one page of them.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) kind: Arc<Kind>,
    pub(crate) documents: Vec<Document>,
    pub(crate) revision: u64,
    pub(crate) continue_token: Option<String>,
    pub(crate) remaining: Option<usize>,
}

impl Reply {
    pub(crate) fn object(code: StatusCode, kind: &Arc<Kind>, document: Document) -> Self {
        Self::Object { code, kind: kind.clone(), document }
    }

    /// Writes the answer in the form that the client wants.
    pub(crate) fn render(self, accept: Accept, now: Timestamp) -> Response<Body> {
        let (code, bytes) = match self {
            Self::Object { code, kind, document } => {
                (code, render_object(&kind, &document, accept.form, now))
            }
            Self::List(list) => (StatusCode::OK, list.render(accept.form, now)),
            Self::Value { code, value } => (code, value.to_string().into()),
            Self::Stream(body) => return respond(StatusCode::OK, "application/json", body),
        };
        match accept.encoding {
            Encoding::Json => respond(code, "application/json", Body::full(bytes)),
            Encoding::Yaml => match yaml(&bytes) {
                Ok(text) => respond(code, "application/yaml", Body::full(text)),
                Err(error) => json_response(&Status::internal_error(error)),
            },
        }
    }
}

impl List {
    fn render(&self, form: Form, now: Timestamp) -> Bytes {
        let mut metadata = json!({"resourceVersion": self.revision.to_string()});
        if let Some(token) = &self.continue_token {
            metadata["continue"] = token.as_str().into();
        }
        if let Some(remaining) = self.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        match form {
            Form::Table(include) => {
                let table = Table { kind: &self.kind, include, now };
                table.render(&self.documents, &metadata, true).to_string().into()
            }
            Form::Metadata => {
                let head = json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata});
                join(&head, &self.documents, |bytes, document| bytes.put_slice(&metadata_only(document)))
            }
            Form::Object => {
                let head = json!({
                    "kind": self.kind.list_kind, "apiVersion": self.kind.api_version(), "metadata": metadata,
                });
                join(&head, &self.documents, |bytes, document| self.item(bytes, document))
            }
        }
    }

    /// An item of the list. Items of built-in kinds do not repeat kind and version.
    fn item(&self, bytes: &mut BytesMut, document: &Document) {
        if self.kind.is_custom {
            bytes.put_slice(&self.kind.shown(document));
        } else {
            bytes.put_u8(b'{');
            bytes.put_slice(self.kind.converted(document).tail());
        }
    }
}

/// One object in the form that the client wants.
fn render_object(kind: &Kind, document: &Document, form: Form, now: Timestamp) -> Bytes {
    match form {
        Form::Object => kind.shown(document),
        Form::Metadata => metadata_only(document),
        Form::Table(include) => {
            let metadata = json!({"resourceVersion": document.revision().to_string()});
            Table { kind, include, now }.render([document], &metadata, true).to_string().into()
        }
    }
}

/// A `PartialObjectMetadata`: the metadata is a slice of the encoded object.
pub(crate) fn metadata_only(document: &Document) -> Bytes {
    const HEAD: &[u8] = br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#;
    let mut bytes = BytesMut::with_capacity(HEAD.len() + document.metadata().len() + 1);
    bytes.put_slice(HEAD);
    bytes.put_slice(document.metadata());
    bytes.put_u8(b'}');
    bytes.freeze()
}

fn join(head: &Value, documents: &[Document], item: impl Fn(&mut BytesMut, &Document)) -> Bytes {
    let size: usize = documents.iter().map(|document| document.bytes().len() + 1).sum();
    let head = head.to_string();
    let mut bytes = BytesMut::with_capacity(head.len() + size + 16);
    bytes.put_slice(head.strip_suffix('}').unwrap_or(&head).as_bytes());
    bytes.put_slice(b",\"items\":[");
    for (index, document) in documents.iter().enumerate() {
        if index > 0 {
            bytes.put_u8(b',');
        }
        item(&mut bytes, document);
    }
    bytes.put_slice(b"]}");
    bytes.freeze()
}

/// A Status as JSON, with its headers.
pub(crate) fn json_response(status: &Status) -> Response<Body> {
    let mut response = respond(status.code, "application/json", Body::full(status.to_value().to_string()));
    if let Some(seconds) = status.details.get("retryAfterSeconds").and_then(Value::as_u64) {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// A plain text answer.
pub(crate) fn text_response(code: StatusCode, text: &'static str) -> Response<Body> {
    respond(code, "text/plain; charset=utf-8", Body::full(text))
}

/// An answer of any content.
pub(crate) fn respond(code: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

fn yaml(bytes: &[u8]) -> Result<String, Box<dyn std::error::Error>> {
    let value: Value = serde_json::from_slice(bytes)?;
    Ok(serde_saphyr::to_string(&value)?)
}

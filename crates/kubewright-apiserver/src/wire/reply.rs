//! The answer, and how it is written in the form that the client wants.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures::{StreamExt, stream};
use http::{HeaderValue, Response, StatusCode, header};
use jiff::Timestamp;

use super::{
    accept::{Accept, Encoding, Form, IncludeObject},
    body::{Body, BodyError},
    table::Table,
};
use crate::{
    error::Status,
    kind::Kind,
    object::{CodecError, Document},
    value::{Value, json},
};

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

    /// Says that something was made that nobody can read.
    pub(crate) fn created() -> Self {
        let code = StatusCode::CREATED;
        let mut value = Status::new(code, "", "").to_value();
        value["code"] = code.as_u16().into();
        Self::Value { code, value }
    }

    /// Writes the answer in the form that the client wants.
    pub(crate) fn render(self, accept: Accept, now: Timestamp) -> Response<Body> {
        let (code, body) = match self {
            Self::Object { code, kind, document } => {
                match render_object(&kind, &document, accept.form, now) {
                    Ok(bytes) => (code, Whole::Bytes(bytes)),
                    Err(error) => return json_response(&error.into()),
                }
            }
            Self::List(list) => (StatusCode::OK, Whole::Frames(ListFrames::new(list, accept.form, now))),
            Self::Value { code, value } => (code, Whole::Bytes(value.to_string().into())),
            Self::Stream(body) => return respond(StatusCode::OK, "application/json", body),
        };
        match accept.encoding {
            Encoding::Json => match body.stream() {
                Ok(body) => respond(code, "application/json", body),
                Err(error) => json_response(&error.into()),
            },
            Encoding::Yaml => match body.collect().map_err(Into::into).and_then(|bytes| yaml(&bytes)) {
                Ok(text) => respond(code, "application/yaml", Body::full(text)),
                Err(error) => json_response(&Status::internal_error(error)),
            },
        }
    }
}

/// An answer that is there, or one that is written while it is sent.
enum Whole {
    Bytes(Bytes),
    Frames(ListFrames),
}

impl Whole {
    /// A list that fits a frame is sent as a whole, with its length.
    ///
    /// # Errors
    /// When the first frame cannot be written. Later ones break the body off.
    fn stream(self) -> Result<Body, CodecError> {
        match self {
            Self::Bytes(bytes) => Ok(Body::full(bytes)),
            Self::Frames(mut frames) => {
                let first = frames.next().transpose()?.unwrap_or_default();
                if frames.is_done() {
                    return Ok(Body::full(first));
                }
                let rest = stream::unfold(frames, async |mut frames| {
                    // A long list is always ready, and others want to run as well.
                    tokio::task::coop::consume_budget().await;
                    frames.next().map(|frame| (frame.map_err(|_| BodyError::Unreadable), frames))
                });
                Ok(Body::frames(stream::once(async { Ok(first) }).chain(rest)))
            }
        }
    }

    fn collect(self) -> Result<Bytes, CodecError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Frames(frames) => {
                let frames: Vec<Bytes> = frames.collect::<Result<_, _>>()?;
                Ok(frames.into_iter().flatten().collect())
            }
        }
    }
}

/// Writes a list frame by frame, so that it is never in memory as a whole.
struct ListFrames {
    list: List,
    form: Form,
    now: Timestamp,
    /// The next document; `None` once the end is written.
    next: Option<usize>,
}

impl ListFrames {
    fn new(list: List, form: Form, now: Timestamp) -> Self {
        Self { list, form, now, next: Some(0) }
    }

    fn is_done(&self) -> bool {
        self.next.is_none()
    }

    fn head(&self) -> String {
        let metadata = self.list.metadata(self.form);
        let head = match self.form {
            Form::Table(include) => return self.table(include).head(&metadata, true),
            Form::Metadata => {
                json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
            }
            Form::Object => json!({
                "kind": self.list.kind.list_kind, "apiVersion": self.list.kind.api_version(), "metadata": metadata,
            }),
        };
        let head = head.to_string();
        format!("{},\"items\":[", head.strip_suffix('}').unwrap_or(&head))
    }

    fn item(&self, bytes: &mut BytesMut, document: &Document) -> Result<(), CodecError> {
        match self.form {
            Form::Table(include) => self.table(include).row(bytes, document)?,
            Form::Metadata => put_metadata_only(bytes, document),
            Form::Object => self.list.item(bytes, document),
        }
        Ok(())
    }

    fn table(&self, include: IncludeObject) -> Table<'_> {
        Table { kind: &self.list.kind, include, now: self.now }
    }
}

impl Iterator for ListFrames {
    type Item = Result<Bytes, CodecError>;

    /// Nothing comes after an error.
    fn next(&mut self) -> Option<Self::Item> {
        let mut index = self.next.take()?;
        let mut bytes = BytesMut::with_capacity(FRAME_BYTES);
        if index == 0 {
            bytes.put_slice(self.head().as_bytes());
        }
        while bytes.len() < FRAME_BYTES && index < self.list.documents.len() {
            if index > 0 {
                bytes.put_u8(b',');
            }
            if let Err(error) = self.item(&mut bytes, &self.list.documents[index]) {
                return Some(Err(error));
            }
            index += 1;
        }
        self.next = (index < self.list.documents.len()).then_some(index);
        if self.next.is_none() {
            bytes.put_slice(b"]}");
        }
        Some(Ok(bytes.freeze()))
    }
}

impl List {
    fn metadata(&self, form: Form) -> Value {
        let mut metadata = json!({"resourceVersion": self.revision.to_string()});
        // Lists that are no struct in Go say that they do not go on.
        if self.kind.is_custom && matches!(form, Form::Object) {
            metadata["continue"] = "".into();
        }
        if let Some(token) = &self.continue_token {
            metadata["continue"] = token.as_str().into();
        }
        if let Some(remaining) = self.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        metadata
    }

    /// An item of the list. Items of built-in kinds do not repeat kind and version.
    fn item(&self, bytes: &mut BytesMut, document: &Document) {
        if self.kind.is_custom {
            bytes.put_slice(&self.kind.bytes(document));
        } else {
            bytes.put_u8(b'{');
            bytes.put_slice(document.tail());
        }
    }
}

/// One object in the form that the client wants.
fn render_object(kind: &Kind, document: &Document, form: Form, now: Timestamp) -> Result<Bytes, CodecError> {
    match form {
        Form::Object => Ok(kind.bytes(document)),
        Form::Metadata => Ok(metadata_only(document)),
        Form::Table(include) => Table { kind, include, now }.of_one(document, true),
    }
}

/// A `PartialObjectMetadata`: the metadata is a slice of the encoded object.
pub(crate) fn metadata_only(document: &Document) -> Bytes {
    let mut bytes = BytesMut::with_capacity(PARTIAL_HEAD.len() + document.metadata().len() + 1);
    put_metadata_only(&mut bytes, document);
    bytes.freeze()
}

pub(super) fn put_metadata_only(bytes: &mut BytesMut, document: &Document) {
    bytes.put_slice(PARTIAL_HEAD);
    bytes.put_slice(document.metadata());
    bytes.put_u8(b'}');
}

const PARTIAL_HEAD: &[u8] = br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#;

/// A Status as JSON, with its headers.
pub(crate) fn json_response(status: &Status) -> Response<Body> {
    let mut response = respond(status.code, "application/json", Body::full(status.to_value().to_string()));
    if let Some(seconds) = status.details.get("retryAfterSeconds").and_then(|seconds| seconds.as_u64()) {
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

/// From which size on a frame is sent. It ends with the object that reaches it.
const FRAME_BYTES: usize = 64 * 1024;

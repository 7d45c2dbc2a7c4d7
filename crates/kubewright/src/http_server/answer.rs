//! Answers of one piece.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

/// What a server says.
pub(crate) type Answer = Response<Full<Bytes>>;

/// An answer of one line, as Go's `http.Error` writes it.
pub(crate) fn text(status: StatusCode, line: String) -> Answer {
    answer(status, "text/plain; charset=utf-8", line + "\n")
}

/// An answer in JSON, with the status 200.
pub(crate) fn json(value: &impl serde::Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(body) => answer(StatusCode::OK, "application/json", body),
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "internal error".to_owned()),
    }
}

/// An answer with a body of a type.
pub(crate) fn answer(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

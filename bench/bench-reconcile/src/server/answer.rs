//! Answers requests. No task of its own: a watch is a body that is made while the client reads it.

use std::{convert::Infallible, sync::Arc};

use anyhow::Result;
use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;
use tokio::sync::watch;

use super::{
    history::History,
    prepared::{Form, Prepared},
    route::Route,
};

/// All objects and what has happened to them. Cheap to clone; the clones are one server.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    prepared: Arc<Prepared>,
    history: watch::Sender<History>,
}

pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

impl Server {
    pub(crate) fn new(objects: usize) -> Result<Self> {
        let prepared = Arc::new(Prepared::new(objects)?);
        let history = watch::Sender::new(History::new(prepared.len()));
        Ok(Self { prepared, history })
    }

    pub(super) fn answer<B>(&self, request: &Request<B>) -> Response<Body> {
        let (status, body) = match Route::of(request.method(), request.uri()) {
            Route::Document(text) => (StatusCode::OK, whole(text)),
            Route::List { begin, limit } => (StatusCode::OK, whole(self.list(begin, limit))),
            Route::Watch { after } => (StatusCode::OK, StreamBody::new(self.events(after)).boxed_unsync()),
            Route::StreamingList => (StatusCode::OK, self.streaming_list()),
            Route::Round => {
                self.history.send_modify(History::next_round);
                (StatusCode::OK, whole("{}"))
            }
            Route::Unknown => (StatusCode::NOT_FOUND, whole(NOT_FOUND)),
        };
        let mut answer = Response::new(body);
        *answer.status_mut() = status;
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer
    }

    fn list(&self, begin: usize, limit: usize) -> Vec<u8> {
        let history = *self.history.borrow();
        let begin = begin.min(self.prepared.len());
        let end = begin.saturating_add(limit).min(self.prepared.len());
        let next = if end < self.prepared.len() { end.to_string() } else { String::new() };
        let mut output = format!(
            r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{next}"}},"items":["#,
            history.version()
        )
        .into_bytes();
        for index in begin..end {
            if index > begin {
                output.push(b',');
            }
            self.prepared.write(&mut output, Form::Item, index, history.version_of(index));
        }
        output.extend_from_slice(b"]}");
        output
    }

    /// Every object, a bookmark that says so, and what happens from then on.
    fn streaming_list(&self) -> Body {
        let (prepared, history) = (Arc::clone(&self.prepared), *self.history.borrow());
        let present = (0..prepared.len()).map(move |index| {
            let mut line = Vec::new();
            prepared.write(&mut line, Form::Added, index, history.version_of(index));
            line
        });
        let version = history.version();
        let lines = present.chain([initial_events_end(version).into_bytes()]);
        let lines = stream::iter(lines).map(|line| Ok(Frame::data(line.into())));
        StreamBody::new(lines.chain(self.events(version))).boxed_unsync()
    }

    /// The events after a version, for ever; each is a chunk of its own, as API servers send them.
    fn events(
        &self,
        after: u64,
    ) -> impl stream::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send + use<> {
        let (prepared, history) = (Arc::clone(&self.prepared), self.history.subscribe());
        stream::unfold((prepared, history, after), |(prepared, mut history, seen)| async move {
            // The sender lives in the server, which outlives its connections.
            let seen_now = history.wait_for(|history| history.after(seen).is_some()).await.ok()?;
            let event = seen_now.after(seen)?;
            drop(seen_now);
            let mut line = Vec::new();
            prepared.write(&mut line, Form::Modified, event.index, event.version);
            Some((Ok(Frame::data(line.into())), (prepared, history, event.version)))
        })
    }
}

fn whole(body: impl Into<Bytes>) -> Body {
    Full::new(body.into()).boxed_unsync()
}

fn initial_events_end(version: u64) -> String {
    format!(
        r#"{{"type":"BOOKMARK","object":{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"resourceVersion":"{version}","creationTimestamp":null,"annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}}"#
    ) + "\n"
}

const NOT_FOUND: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","message":"the bench serves config maps alone","code":404}"#;

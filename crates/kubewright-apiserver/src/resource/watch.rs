//! Watch: the log of a resource as a stream of events.
//!
//! [`Lines`] is the pure part: it turns events of the log into lines of the form that the client wants. [`Feed`]
//! waits, and puts all lines that are ready into one frame.

use std::{future::pending, sync::Arc, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{
    call::Call,
    list::{Filter, wait_for},
};
use crate::{
    error::Status,
    kind::Kind,
    object::Document,
    server::Shared,
    storage::{Change, Event, Key, Snapshot, Watcher},
    wire::{Body, BodyError, Form, ListOptions, Reply, Table, metadata_only},
};

/// `GET` with `watch=true`.
///
/// Source: apiserver `handlers.serveWatchHandler`, `storage/cacher`.
pub(super) async fn watch(call: Call) -> Result<Reply, Status> {
    let options = ListOptions::of_watch(&call.context.query)?;
    let filter = Filter::read(&call, &options)?;
    let wanted = call.single_version()?.filter(|version| *version > 0);
    let initial_events = options.send_initial_events.unwrap_or(wanted.is_none());
    if options.send_initial_events.is_some() {
        wait_for(&call, wanted).await?;
    }
    let store = &call.shared.store;
    let (initial, watcher) = match wanted {
        _ if initial_events => {
            let (snapshot, watcher) = store.snapshot_and_watch(&call.kind.prefix);
            (Some(Initial { snapshot, after: None }), Ok(watcher))
        }
        Some(revision) => (None, store.watch(&call.kind.prefix, revision)),
        None => (None, Ok(store.snapshot_and_watch(&call.kind.prefix).1)),
    };
    let lines = Lines {
        namespace: call.namespace().to_owned(),
        kind: call.kind.clone(),
        filter,
        form: call.accept.form,
        shared: call.shared.clone(),
        table_started: false,
        left: call.cut_after,
    };
    let mut feed = Feed {
        lines,
        initial,
        announces_end: options.send_initial_events == Some(true) && options.allow_watch_bookmarks,
        watcher: None,
        buffer: BytesMut::new(),
        ending: false,
        ended: false,
        bookmarks: options.allow_watch_bookmarks.then(|| call.shared.bookmark_interval),
        next_bookmark: Instant::now() + call.shared.bookmark_interval,
        deadline: Deadline::new(options.timeout.unwrap_or_else(|| call.shared.identity.watch_timeout())),
        closing: call.closing.clone(),
        cut: call.cut.clone(),
    };
    match watcher {
        Ok(watcher) => feed.watcher = Some(watcher),
        Err(expired) => feed.lines.error(&mut feed.buffer, &Status::expired(expired.to_string())),
    }
    let frames = stream::unfold(feed, async |mut feed| feed.next_frame().await.map(|frame| (frame, feed)));
    Ok(Reply::Stream(Body::frames(frames)))
}

/// What a watch still has to send, and what it waits for.
struct Feed {
    lines: Lines,
    initial: Option<Initial>,
    /// Whether a bookmark says that the initial events are complete.
    announces_end: bool,
    /// `None` once an error has been sent, and nothing follows it.
    watcher: Option<Watcher>,
    buffer: BytesMut,
    /// Whether the watch ends with what is ready.
    ending: bool,
    ended: bool,
    bookmarks: Option<Duration>,
    next_bookmark: Instant,
    deadline: Deadline,
    closing: CancellationToken,
    cut: Arc<CancellationToken>,
}

/// The state that a watch begins with, as far as it has not been sent.
struct Initial {
    snapshot: Snapshot,
    after: Option<Key>,
}

impl Feed {
    /// The next frame: every line that is ready, up to the size of a frame.
    async fn next_frame(&mut self) -> Option<Result<Bytes, BodyError>> {
        loop {
            // Looked at here as well: a watch that always has events never waits.
            if self.ended || self.closing.is_cancelled() || Instant::now() >= self.deadline.at {
                return None;
            }
            if self.lines.left == Some(0) || self.cut.is_cancelled() {
                self.ended = true;
                // The transport sends what it has before it learns of the cut.
                tokio::task::yield_now().await;
                return Some(Err(BodyError::Cut));
            }
            self.fill();
            if !self.buffer.is_empty() {
                self.ended = self.watcher.is_none();
                return Some(Ok(self.buffer.split().freeze()));
            }
            if self.ending {
                return None;
            }
            self.wait().await;
        }
    }

    /// Writes what is ready.
    fn fill(&mut self) {
        self.fill_initial();
        while self.initial.is_none() && self.has_room() {
            let Some(watcher) = &mut self.watcher else { return };
            match watcher.read(EVENTS_PER_READ) {
                Ok(events) if events.is_empty() => return,
                Ok(events) => {
                    for event in &events {
                        self.lines.event(&mut self.buffer, event);
                    }
                }
                Err(expired) => {
                    self.lines.error(&mut self.buffer, &Status::expired(expired.to_string()));
                    self.watcher = None;
                }
            }
        }
    }

    fn fill_initial(&mut self) {
        let Some(initial) = &mut self.initial else { return };
        let start = initial.after.as_ref().map(|key| format!("{key}\0")).unwrap_or_default();
        for (key, document) in initial.snapshot.range(&self.lines.namespace, &start) {
            if self.buffer.len() >= FRAME_BYTES || self.lines.left == Some(0) {
                return;
            }
            self.lines.initial(&mut self.buffer, key, document);
            initial.after = Some(key.clone());
        }
        if self.announces_end {
            self.lines.bookmark(&mut self.buffer, initial.snapshot.revision, true);
        }
        self.initial = None;
    }

    fn has_room(&self) -> bool {
        self.buffer.len() < FRAME_BYTES && self.lines.left != Some(0)
    }

    /// Waits for something to do. Ends first, then events, then bookmarks: a watch that should end must not be
    /// kept alive by its events.
    async fn wait(&mut self) {
        let Some(watcher) = &mut self.watcher else {
            self.ending = true;
            return;
        };
        let bookmark_at = self.bookmarks.map(|_| self.deadline.last_bookmark(self.next_bookmark));
        tokio::select! {
            biased;
            () = self.closing.cancelled() => self.ended = true,
            () = self.cut.cancelled() => {}
            // The last objects of a kind go with it, and the client should learn of that.
            () = self.lines.kind.retired.cancelled() => self.ending = true,
            () = sleep_until(self.deadline.at) => self.ended = true,
            () = watcher.changed() => {}
            () = sleep_until_some(bookmark_at) => {
                let revision = watcher.cursor();
                // A watch from the future is silent until the future has come.
                if revision <= self.lines.shared.store.revision() {
                    self.lines.bookmark(&mut self.buffer, revision, false);
                }
                self.deadline.bookmarked(Instant::now());
                self.next_bookmark = Instant::now() + self.bookmarks.unwrap_or_default();
            }
        }
    }
}

/// When a watch ends on its own, and the bookmark shortly before.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    at: Instant,
    last_bookmark: Option<Instant>,
}

impl Deadline {
    /// Source: apiserver `storage/cacher.watcherBookmarkTimeBuckets`: two seconds before the deadline.
    fn new(timeout: Duration) -> Self {
        let now = Instant::now();
        let lead = Duration::from_secs(2);
        Self { at: now + timeout, last_bookmark: (timeout > lead).then(|| now + timeout - lead) }
    }

    fn last_bookmark(&self, regular: Instant) -> Instant {
        self.last_bookmark.map_or(regular, |last| last.min(regular))
    }

    fn bookmarked(&mut self, now: Instant) {
        self.last_bookmark = self.last_bookmark.filter(|last| now < *last);
    }
}

async fn sleep_until_some(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// Writes events as lines.
struct Lines {
    kind: Arc<Kind>,
    namespace: String,
    filter: Filter,
    form: Form,
    shared: Arc<Shared>,
    table_started: bool,
    /// How many lines may still be written before the fault plan cuts the watch.
    left: Option<usize>,
}

impl Lines {
    fn initial(&mut self, buffer: &mut BytesMut, key: &Key, document: &Document) {
        if self.filter.matches(key, document) {
            self.object(buffer, "ADDED", document);
        }
    }

    /// An object that begins or ceases to be selected is added or deleted for the client.
    fn event(&mut self, buffer: &mut BytesMut, event: &Event) {
        let inside = self.namespace.is_empty()
            || event.key.as_str().strip_prefix(&self.namespace).is_some_and(|rest| rest.starts_with('/'));
        if !inside || self.left == Some(0) {
            return;
        }
        let key = &event.key;
        match &event.change {
            Change::Created { new } => self.initial(buffer, key, new),
            Change::Updated { old, new } => {
                match (self.filter.matches(key, old), self.filter.matches(key, new)) {
                    (false, false) => {}
                    (false, true) => self.object(buffer, "ADDED", new),
                    (true, true) => self.object(buffer, "MODIFIED", new),
                    (true, false) => self.object(buffer, "DELETED", &old.at(event.revision)),
                }
            }
            Change::Deleted { old } => {
                if self.filter.matches(key, old) {
                    self.object(buffer, "DELETED", &old.at(event.revision));
                }
            }
        }
    }

    fn object(&mut self, buffer: &mut BytesMut, change: &str, document: &Document) {
        let shown = match self.form {
            Form::Object => self.kind.shown(document),
            Form::Metadata => Ok(metadata_only(document)),
            Form::Table(include) => {
                let table = Table { kind: &self.kind, include, now: self.shared.clock.now() };
                let table = table.of_one(document, !self.table_started);
                self.table_started = true;
                table
            }
        };
        match shown {
            Ok(shown) => self.line(buffer, change, &shown),
            // The watch goes on: the client knows that it has missed something.
            Err(error) => self.error(buffer, &error.into()),
        }
    }

    /// Says that everything up to `revision` has been sent.
    fn bookmark(&mut self, buffer: &mut BytesMut, revision: u64, initial_end: bool) {
        let mut metadata = json!({"resourceVersion": revision.to_string(), "creationTimestamp": Value::Null});
        if initial_end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = match self.form {
            Form::Object => {
                json!({"kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": metadata})
            }
            Form::Metadata => {
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
            }
            Form::Table(_) => json!({
                "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
                "columnDefinitions": [], "rows": [],
            }),
        };
        self.line(buffer, "BOOKMARK", object.to_string().as_bytes());
    }

    fn error(&mut self, buffer: &mut BytesMut, status: &Status) {
        self.line(buffer, "ERROR", status.to_value().to_string().as_bytes());
    }

    fn line(&mut self, buffer: &mut BytesMut, change: &str, object: &[u8]) {
        if self.left == Some(0) {
            return;
        }
        self.left = self.left.map(|left| left - 1);
        buffer.reserve(object.len() + 64);
        buffer.put_slice(b"{\"type\":\"");
        buffer.put_slice(change.as_bytes());
        buffer.put_slice(b"\",\"object\":");
        buffer.put_slice(object);
        buffer.put_slice(b"}\n");
    }
}

/// From which size on a frame is sent. It ends with the object that reaches it.
const FRAME_BYTES: usize = 64 * 1024;
/// How many events are taken from the log at a time: few, so that a frame of large objects stays small.
const EVENTS_PER_READ: usize = 8;

//! `GET` with `watch=true`: events as a stream of lines.
//!
//! [`Lines`] is the pure part: it writes events in the form that the client wants. [`Feed`] waits, and puts all lines
//! that are ready into one frame.

use std::{future::pending, sync::Arc, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::call::Call;
use crate::{
    clock::Clock,
    error::Status,
    kind::Kind,
    object::Document,
    options::ListOptions,
    registry::{Cluster, Filter, Watch, WatchEvent},
    value::{Value, json},
    wire::{Body, BodyError, Form, Reply, Table, metadata_only},
};

/// Source: apiserver `handlers.serveWatchHandler`.
pub(super) async fn watch(call: Call) -> Result<Reply, Status> {
    let options = ListOptions::of_watch(&call.context.query)?;
    let filter = Filter::read(call.resource(), &options)?;
    let version = call.single_version()?;
    let watch = call.resource().watch(&options, filter, version).await?;
    let cluster = call.cluster;
    let mut lines = Lines {
        kind: call.kind,
        form: call.accept.form,
        clock: call.context.clock,
        table_started: false,
        left: call.cut_after,
        announces_end: options.send_initial_events == Some(true) && options.allow_watch_bookmarks,
        buffer: BytesMut::new(),
    };
    let watch = watch.map_err(|expired| lines.error(&expired)).ok();
    let feed = Feed {
        lines,
        watch,
        ending: false,
        ended: false,
        bookmarks: options.allow_watch_bookmarks.then_some(cluster.bookmark_interval),
        next_bookmark: Instant::now() + cluster.bookmark_interval,
        deadline: Deadline::new(options.timeout.unwrap_or_else(|| cluster.identity.watch_timeout())),
        closing: call.closing,
        cut: call.cut,
        cluster,
    };
    let frames = stream::unfold(feed, async |mut feed| feed.next_frame().await.map(|frame| (frame, feed)));
    Ok(Reply::Stream(Body::frames(frames)))
}

/// What a watch still has to send, and what it waits for.
struct Feed {
    cluster: Arc<Cluster>,
    lines: Lines,
    /// `None` once an error has been sent, and nothing follows it.
    watch: Option<Watch>,
    /// Whether the watch ends with what is ready.
    ending: bool,
    ended: bool,
    bookmarks: Option<Duration>,
    next_bookmark: Instant,
    deadline: Deadline,
    closing: CancellationToken,
    cut: Arc<CancellationToken>,
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
            self.fill().await;
            if !self.lines.buffer.is_empty() {
                self.ended = self.watch.is_none();
                return Some(Ok(self.lines.buffer.split().freeze()));
            }
            if self.ending {
                return None;
            }
            self.wait().await;
        }
    }

    /// Writes what is ready.
    async fn fill(&mut self) {
        while self.lines.has_room() {
            let Some(watch) = &mut self.watch else { return };
            match watch.read().await {
                Ok(events) if events.is_empty() => return,
                Ok(events) => events.iter().for_each(|event| self.lines.event(event)),
                Err(expired) => {
                    self.lines.error(&expired);
                    self.watch = None;
                }
            }
        }
    }

    /// Waits for something to do. Ends first, then events, then bookmarks: a watch that should end must not be
    /// kept alive by its events.
    async fn wait(&mut self) {
        let Some(watch) = &mut self.watch else {
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
            () = watch.changed() => {}
            () = sleep_until_some(bookmark_at) => {
                let revision = watch.cursor();
                // A watch from the future is silent until the future has come.
                if revision <= self.cluster.store.revision() {
                    self.lines.bookmark(revision, false);
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
    form: Form,
    clock: Arc<dyn Clock>,
    table_started: bool,
    /// How many lines may still be written before the fault plan cuts the watch.
    left: Option<usize>,
    /// Whether a bookmark says that the initial events are complete.
    announces_end: bool,
    buffer: BytesMut,
}

impl Lines {
    fn has_room(&self) -> bool {
        self.buffer.len() < FRAME_BYTES && self.left != Some(0)
    }

    fn event(&mut self, event: &WatchEvent) {
        match event {
            WatchEvent::Added(document) => self.object("ADDED", document),
            WatchEvent::Modified(document) => self.object("MODIFIED", document),
            WatchEvent::Deleted(document) => self.object("DELETED", document),
            WatchEvent::InitialEnd(revision) if self.announces_end => self.bookmark(*revision, true),
            WatchEvent::InitialEnd(_) => {}
            // The watch goes on: the client knows that it has missed something.
            WatchEvent::Failed(status) => self.error(status),
        }
    }

    fn object(&mut self, change: &str, document: &Document) {
        let shown = match self.form {
            Form::Object => Ok(self.kind.bytes(document)),
            Form::Metadata => Ok(metadata_only(document)),
            Form::Table(include) => {
                let table = Table { kind: &self.kind, include, now: self.clock.now() };
                let table = table.of_one(document, !self.table_started);
                self.table_started = true;
                table
            }
        };
        match shown {
            Ok(shown) => self.line(change, &shown),
            // The watch goes on: the client knows that it has missed something.
            Err(error) => self.error(&error.into()),
        }
    }

    /// Says that everything up to `revision` has been sent.
    fn bookmark(&mut self, revision: u64, initial_end: bool) {
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
        self.line("BOOKMARK", object.to_string().as_bytes());
    }

    fn error(&mut self, status: &Status) {
        self.line("ERROR", status.to_value().to_string().as_bytes());
    }

    fn line(&mut self, change: &str, object: &[u8]) {
        if self.left == Some(0) {
            return;
        }
        self.left = self.left.map(|left| left - 1);
        self.buffer.reserve(object.len() + 64);
        self.buffer.put_slice(b"{\"type\":\"");
        self.buffer.put_slice(change.as_bytes());
        self.buffer.put_slice(b"\",\"object\":");
        self.buffer.put_slice(object);
        self.buffer.put_slice(b"}\n");
    }
}

/// From which size on a frame is sent. It ends with the object that reaches it.
const FRAME_BYTES: usize = 64 * 1024;

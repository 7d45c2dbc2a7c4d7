//! The task that moves bytes from the API server to the sink.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::{Instant, sleep, timeout};

use super::{
    backoff::Backoff,
    course::{Ask, Course, When},
    event::Event,
    failure::Failure,
    lines::Lines,
    pieces::Pieces,
    request::Target,
};
use crate::{cache::json, object::Kind};

/// Where the objects go. Calls come in this order, for ever: `list_begins`, any number of `listed`, `list_ends`, any number of
/// `changed`, `deleted` and `progressed`; a list may begin anew at any point, also before the last one ended. `flush` comes before every
/// wait.
pub(crate) trait Sink: Send {
    /// Everything that exists follows. `latest`: as the API server has it now, and not as a replica had it some time ago.
    fn list_begins(&mut self, latest: bool);
    /// An object that exists.
    fn listed(&mut self, object: &[u8]);
    /// All that existed at `version` has been listed; what was not listed does not exist any more.
    fn list_ends(&mut self, version: u64);
    /// An object is new or has changed. Gives its version, or `None` if the object cannot be read.
    fn changed(&mut self, object: &[u8]) -> Option<u64>;
    /// An object is gone; `object` is its last state.
    fn deleted(&mut self, object: &[u8]) -> Option<u64>;
    /// Nothing else has happened up to `version`.
    fn progressed(&mut self, version: u64);
    /// Nothing more has arrived: those who listen have to be woken now, if they have not been before.
    fn flush(&mut self);
    /// The reflector tries again after `retry_in`.
    fn failed(&mut self, failure: &Failure, retry_in: Duration);
}

/// Follows one [`Target`].
pub(crate) struct Reflector {
    client: kube::Client,
    target: Target,
    backoff: Backoff,
    random: fastrand::Rng,
}

impl Reflector {
    pub(crate) fn new(client: kube::Client, target: Target, mut random: fastrand::Rng) -> Self {
        Self { client, target, backoff: Backoff::new(random.fork()), random }
    }

    /// Lists and watches until it is dropped.
    pub(crate) async fn follow(mut self, sink: &mut impl Sink) -> Infallible {
        let mut course = Course::new();
        loop {
            let mut progressed = false;
            let result = match course.next() {
                ask @ Ask::List { .. } => self.list(ask, &mut course, sink).await,
                ask => self.stream(ask, &mut course, sink, &mut progressed).await,
            };
            let (when, failure) = match result {
                Ok(()) => (When::after_close(progressed), None),
                Err(failure) => (course.failed(&failure, progressed), Some(failure)),
            };
            sink.flush();
            let wait = match when {
                When::Now => Duration::ZERO,
                When::AfterBackoff => self.backoff.next(Instant::now()),
            };
            if let Some(failure) = failure {
                sink.failed(&failure, wait);
            }
            if !wait.is_zero() {
                sleep(wait).await;
            }
        }
    }

    /// Lists in pages. A page that fails in passing is asked for again; the pages before it are not.
    async fn list(&mut self, ask: Ask, course: &mut Course, sink: &mut impl Sink) -> Result<(), Failure> {
        sink.list_begins(ask.is_latest());
        let mut page: Option<String> = None;
        loop {
            let body = self.page(ask, page.as_deref(), sink).await?;
            let list = ListPage::parse(&body)?;
            list.for_each_item(&body, &self.target.kind, |item| sink.listed(item))?;
            sink.flush();
            if list.next.is_empty() {
                course.listed(list.resource_version);
                sink.list_ends(list.resource_version);
                return Ok(());
            }
            page = Some(list.next);
        }
    }

    async fn page(&mut self, ask: Ask, page: Option<&str>, sink: &mut impl Sink) -> Result<Bytes, Failure> {
        let mut tries = 1;
        loop {
            match self.try_page(ask, page).await {
                Err(failure) if page.is_some() && failure.is_passing() && tries < TRIES_PER_PAGE => {
                    let wait = self.backoff.next(Instant::now());
                    sink.failed(&failure, wait);
                    sleep(wait).await;
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    async fn try_page(&mut self, ask: Ask, page: Option<&str>) -> Result<Bytes, Failure> {
        let answer = self.send(ask, page).await?;
        let body = timeout(IDLE_LIMIT, answer.into_body().collect()).await;
        Ok(body.map_err(|_| Failure::Silent(IDLE_LIMIT))?.map_err(Failure::transport)?.to_bytes())
    }

    /// Reads a watch, with a streaming list before it if `ask` says so, until the API server ends it.
    async fn stream(
        &mut self,
        ask: Ask,
        course: &mut Course,
        sink: &mut impl Sink,
        progressed: &mut bool,
    ) -> Result<(), Failure> {
        let mut listing = matches!(ask, Ask::StreamingList { .. });
        let mut pieces = Pieces::new(self.send(ask, None).await?.into_body());
        if listing {
            sink.list_begins(ask.is_latest());
        }
        let mut lines = Lines::default();
        loop {
            let limit = if listing { LIST_STALL_LIMIT } else { IDLE_LIMIT };
            let batch = match timeout(limit, pieces.next()).await {
                Ok(batch) => batch.map_err(Failure::transport)?,
                Err(_) if listing => return Err(Failure::Endless),
                Err(_) => return Err(Failure::Silent(limit)),
            };
            if batch.is_empty() {
                return if listing {
                    Err(Failure::transport("the streaming list ended early"))
                } else {
                    Ok(())
                };
            }
            let mut read = |line: &[u8]| {
                let version = match Event::parse(line)? {
                    Event::Added(object) | Event::Modified(object) if listing => {
                        sink.listed(object);
                        return Ok(());
                    }
                    Event::Added(object) | Event::Modified(object) => sink.changed(object),
                    Event::Deleted(object) => sink.deleted(object),
                    Event::Bookmark { resource_version, initial_events_end } => {
                        if listing && initial_events_end {
                            listing = false;
                            course.listed(resource_version);
                            sink.list_ends(resource_version);
                        } else if !listing {
                            sink.progressed(resource_version);
                        }
                        Some(resource_version)
                    }
                };
                *progressed = true;
                if let Some(version) = version {
                    course.watched(version);
                }
                Ok(())
            };
            batch.iter().try_for_each(|piece| lines.feed(piece, &mut read))?;
            sink.flush();
        }
    }

    /// Sends the request and gives the answer if it is a good one.
    async fn send(&mut self, ask: Ask, page: Option<&str>) -> Result<Response<Body>, Failure> {
        let watch_time = MIN_WATCH_TIME.mul_f64(1.0 + self.random.f64());
        let request = self.target.request(ask, watch_time, page);
        let answer = timeout(ANSWER_LIMIT, self.client.send(request)).await;
        let answer = answer.map_err(|_| Failure::Silent(ANSWER_LIMIT))?.map_err(Failure::transport)?;
        if answer.status() == StatusCode::OK {
            return Ok(answer);
        }
        let code = answer.status().as_u16();
        let body = http_body_util::Limited::new(answer.into_body(), LONGEST_ERROR);
        let body = timeout(ANSWER_LIMIT, body.collect()).await.ok().and_then(Result::ok);
        Err(Failure::from_status(
            Some(code),
            &body.map(http_body_util::Collected::to_bytes).unwrap_or_default(),
        ))
    }
}

/// The parts of a list answer.
struct ListPage {
    resource_version: u64,
    /// Where the next page starts; empty after the last one.
    next: String,
    /// Where the array of items starts; some servers write `null` for an empty one.
    items: Option<usize>,
}

impl ListPage {
    /// Hands out the items. In lists of built-in kinds they do not say what they are, as the list does; here they are told, so that an object
    /// reads the same whether a list or a watch brought it.
    fn for_each_item(&self, body: &[u8], kind: &Kind, mut take: impl FnMut(&[u8])) -> Result<(), Failure> {
        let Some(items) = self.items else { return Ok(()) };
        let types = format!(r#"{{"apiVersion":"{}","kind":"{}","#, kind.api_version(), kind.kind());
        // All items are alike.
        let mut say_what_they_are = None;
        for item in json::elements(body, items).map_err(Failure::malformed)? {
            let item = &body[item.map_err(Failure::malformed)?];
            let says_what_it_is = || json::value_start(item, 0, b"kind").is_ok_and(|value| value.is_some());
            match item.strip_prefix(b"{") {
                Some(members) if !*say_what_they_are.get_or_insert_with(says_what_it_is) => {
                    take(&[types.as_bytes(), members].concat());
                }
                _ => take(item),
            }
        }
        Ok(())
    }

    fn parse(body: &[u8]) -> Result<Self, Failure> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            resource_version: String,
            #[serde(default, rename = "continue")]
            next: Option<String>,
        }
        let (mut metadata, mut items) = (None, None);
        for member in json::members(body, 0).map_err(Failure::malformed)? {
            let member = member.map_err(Failure::malformed)?;
            match member.key {
                b"metadata" => metadata = Some(member.value),
                b"items" => items = Some((body[member.value.start] == b'[').then_some(member.value.start)),
                _ => {}
            }
        }
        let (Some(metadata), Some(items)) = (metadata, items) else {
            return Err(Failure::malformed("a list has no metadata or no items"));
        };
        let metadata: Metadata = serde_json::from_slice(&body[metadata]).map_err(Failure::malformed)?;
        Ok(Self {
            resource_version: metadata.resource_version.parse().map_err(Failure::malformed)?,
            next: metadata.next.unwrap_or_default(),
            items,
        })
    }
}

/// Watches end after 5 to 10 minutes, so that the load of many clients spreads over the API servers. Source: client-go
/// `tools/cache/reflector.go`, `minWatchTimeout`.
const MIN_WATCH_TIME: Duration = Duration::from_secs(300);
/// API servers send a bookmark each minute; a watch that is silent for longer has lost its other end.
const IDLE_LIMIT: Duration = Duration::from_secs(90);
/// A streaming list that has sent nothing for this long comes from a server that does not know how to end one.
const LIST_STALL_LIMIT: Duration = Duration::from_secs(10);
/// How long the first byte of an answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
const LONGEST_ERROR: usize = 1 << 20;
const TRIES_PER_PAGE: usize = 10;

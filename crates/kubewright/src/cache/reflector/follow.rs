//! The task that moves bytes from the API server to the sink.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::{
    sync::Notify,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    backoff::Backoff,
    course::{Ask, Course, Verdict, When},
    event::Event,
    failure::Failure,
    initial_events::InitialEvents,
    lines::Lines,
    list_page::ListPage,
    pieces::Pieces,
    request::Target,
};
use crate::cache::store::Past;

/// Where the objects go. Calls come in this order, for ever: `list_begins`, any number of `listed` and `deleted`, `list_ends`, any number of
/// `changed`, `deleted` and `progressed`; a list may begin anew at any point, also before the last one ended. `flush` comes before every
/// wait.
pub(crate) trait Sink: Send {
    /// Everything that exists follows. What came before is doubted, if `past` says so: the API server went back.
    fn list_begins(&mut self, past: Past);
    /// An object that exists; its version, and whether it is new to this list. `None` if it cannot be read.
    fn listed(&mut self, object: &[u8]) -> Option<Listed>;
    /// All that existed at `version` has been listed; what was not listed does not exist any more.
    fn list_ends(&mut self, version: u64, verdict: Verdict);
    /// An object is new or has changed. Gives the version of the event, or `None` if the object cannot be read.
    fn changed(&mut self, object: &[u8]) -> Option<u64>;
    /// An object is gone; `object` is its last state. Gives the version of the event.
    fn deleted(&mut self, object: &[u8]) -> Option<u64>;
    /// Nothing else has happened up to `version`.
    fn progressed(&mut self, version: u64);
    /// Nothing more has arrived: those who listen have to be woken now, if they have not been before.
    fn flush(&mut self);
    /// The reflector tries again after `retry_in`.
    fn failed(&mut self, failure: &Failure, retry_in: Duration);
}

/// What a list said of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) version: u64,
    pub(crate) is_new: bool,
}

/// Follows one [`Target`].
pub(crate) struct Reflector {
    client: kube::Client,
    target: Target,
    course: Course,
    backoff: Backoff,
    random: fastrand::Rng,
    /// Told when somebody wants what the API server has refused.
    wanted: Arc<Notify>,
    /// Since when the API server does not know the kind, if so.
    absent_since: Option<Instant>,
}

impl Reflector {
    pub(crate) fn new(
        client: kube::Client,
        target: Target,
        mut random: fastrand::Rng,
        wanted: Arc<Notify>,
    ) -> Self {
        let backoff = Backoff::new(random.fork());
        Self { client, target, course: Course::new(), backoff, random, wanted, absent_since: None }
    }

    /// Lists and watches until it is dropped.
    pub(crate) async fn follow(mut self, sink: &mut impl Sink) -> Infallible {
        loop {
            let ask = self.course.next(Instant::now());
            let mut worked = false;
            let result = match ask {
                Ask::List { .. } => self.list(ask, sink).await.map(|()| When::Now),
                Ask::Version => self.version().await.map(|version| self.course.stands_at(version)),
                _ => self.stream(ask, sink, &mut worked).await.map(|()| self.course.closed(worked)),
            };
            sink.flush();
            let (when, failure) = match result {
                Ok(when) => (when, None),
                Err(failure) => (self.course.failed(&failure, worked, Instant::now()), Some(failure)),
            };
            if worked {
                self.backoff.reset();
            }
            self.note_absence(failure.as_ref());
            let wait = match when {
                When::Now => Duration::ZERO,
                When::AfterBackoff => self.backoff(Instant::now()),
            };
            let is_refused = failure.as_ref().is_some_and(Failure::is_refusal);
            if let Some(failure) = failure {
                sink.failed(&failure, wait);
            }
            if !wait.is_zero() {
                self.wait(wait, is_refused).await;
            }
        }
    }

    fn note_absence(&mut self, failure: Option<&Failure>) {
        let is_absent = failure.is_some_and(Failure::is_absence);
        self.absent_since = is_absent.then(|| self.absent_since.unwrap_or_else(Instant::now));
    }

    /// How long to wait. A kind whose definition is gone for long may never come back.
    fn backoff(&mut self, now: Instant) -> Duration {
        match self.absent_since {
            Some(since) if now.duration_since(since) >= ABSENT_FOR_LONG => {
                ABSENCE_WAIT.mul_f64(1.0 + self.random.f64())
            }
            _ => self.backoff.next(now),
        }
    }

    /// Waits out the backoff; after a refusal, at most until somebody wants the kind.
    async fn wait(&self, backoff: Duration, is_refused: bool) {
        if !is_refused || backoff <= REFUSED_FOR {
            return sleep(backoff).await;
        }
        let wanted = async {
            sleep(REFUSED_FOR).await;
            self.wanted.notified().await;
        };
        // Either way it is time.
        let _wanted = timeout(backoff, wanted).await;
    }

    /// Lists in pages. A page that fails in passing is asked for again; the pages before it are not.
    async fn list(&mut self, ask: Ask, sink: &mut impl Sink) -> Result<(), Failure> {
        let mut judged = None;
        let mut page: Option<String> = None;
        loop {
            let body = self.page(ask, page.as_deref(), sink).await?;
            let list = ListPage::parse(&body)?;
            // Where later pages are newer, as from servers without snapshots, the watch brings what the first ones missed.
            let (version, verdict) = if let Some(judged) = judged {
                judged
            } else {
                let first = (list.resource_version, self.course.judge(list.resource_version)?);
                sink.list_begins(self.past());
                *judged.insert(first)
            };
            list.for_each_item(&body, &self.target.kind, |item| {
                if let Some(listed) = sink.listed(item) {
                    self.course.saw(listed.version);
                }
            })?;
            sink.flush();
            if list.next.is_empty() {
                self.course.listed(version);
                sink.list_ends(version, verdict);
                return Ok(());
            }
            page = Some(list.next);
        }
    }

    async fn page(&mut self, ask: Ask, page: Option<&str>, sink: &mut impl Sink) -> Result<Bytes, Failure> {
        let mut tries = 1;
        loop {
            match self.try_page(ask, page).await {
                Err(failure) if page.is_some() && failure.is_expired() => return Err(Failure::PageExpired),
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

    /// Reads a page, however long that takes, as long as something comes.
    async fn try_page(&mut self, ask: Ask, page: Option<&str>) -> Result<Bytes, Failure> {
        let mut body = self.send(ask, page, MIN_WATCH_TIME).await?.into_body();
        let mut text = BytesMut::new();
        loop {
            let frame = timeout(IDLE_LIMIT, body.frame()).await.map_err(|_| Failure::Silent(IDLE_LIMIT))?;
            let Some(frame) = frame else { return Ok(text.freeze()) };
            // Trailers say nothing about objects.
            if let Ok(data) = frame.map_err(Failure::transport)?.into_data() {
                text.extend_from_slice(&data);
            }
        }
    }

    /// Asks where the API server is.
    async fn version(&mut self) -> Result<u64, Failure> {
        let body = timeout(VERSION_LIMIT, self.try_page(Ask::Version, None)).await;
        let body = body.map_err(|_| Failure::Silent(VERSION_LIMIT))??;
        Ok(ListPage::parse(&body)?.resource_version)
    }

    /// Reads a watch, with a streaming list before it if `ask` says so, until the API server ends it. `worked`: it has brought something
    /// new, or stood for long.
    async fn stream(&mut self, ask: Ask, sink: &mut impl Sink, worked: &mut bool) -> Result<(), Failure> {
        let watch_time = MIN_WATCH_TIME.mul_f64(1.0 + self.random.f64());
        let mut pieces = Pieces::new(self.send(ask, None, watch_time).await?.into_body());
        let begun = Instant::now();
        let mut initial = matches!(ask, Ask::StreamingList { .. }).then(|| InitialEvents::begin(begun));
        if initial.is_some() {
            sink.list_begins(self.past());
        }
        let mut lines = Lines::default();
        loop {
            let batch = self.batch(&mut pieces, initial.as_ref(), watch_time).await;
            *worked |= initial.is_none() && begun.elapsed() >= STEADY_AFTER;
            let batch = batch?;
            if batch.is_empty() {
                return match initial {
                    Some(_) => Err(Failure::transport("the streaming list ended early")),
                    None => Ok(()),
                };
            }
            let mut read = |line: &[u8]| {
                *worked |= take(&Event::parse(line)?, &mut self.course, sink, &mut initial)?;
                Ok(())
            };
            batch.iter().try_for_each(|piece| lines.feed(piece, &mut read))?;
            sink.flush();
            if initial.as_ref().is_some_and(|initial| initial.ends_at() <= Instant::now()) {
                return Err(Failure::Endless);
            }
        }
    }

    /// What comes next; nothing at the end.
    async fn batch(
        &self,
        pieces: &mut Pieces<Body>,
        initial: Option<&InitialEvents>,
        watch_time: Duration,
    ) -> Result<Vec<Bytes>, Failure> {
        let idle = if self.course.expects_bookmarks() { IDLE_LIMIT } else { watch_time + END_LIMIT };
        let limit = initial.map_or_else(|| Instant::now() + idle, |initial| initial.ends_at());
        match timeout_at(limit, pieces.next()).await {
            Ok(batch) => batch.map_err(Failure::transport),
            Err(_) if initial.is_some() => Err(Failure::Endless),
            Err(_) => Err(Failure::Silent(idle)),
        }
    }

    fn past(&self) -> Past {
        if self.course.expects_the_past() { Past::Accepted } else { Past::Refused }
    }

    /// Sends the request and gives the answer if it is a good one.
    async fn send(
        &self,
        ask: Ask,
        page: Option<&str>,
        watch_time: Duration,
    ) -> Result<Response<Body>, Failure> {
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

/// Takes one event in. True if it is progress of a watch.
fn take(
    event: &Event<'_>,
    course: &mut Course,
    sink: &mut impl Sink,
    initial: &mut Option<InitialEvents>,
) -> Result<bool, Failure> {
    let version = match *event {
        Event::Bookmark { resource_version: version, initial_events_end } => {
            if initial.is_none() {
                let moved = course.bookmarked(version)?;
                sink.progressed(version);
                return Ok(moved);
            }
            if initial_events_end {
                let verdict = course.judge(version)?;
                course.listed(version);
                sink.list_ends(version, verdict);
                *initial = None;
            }
            return Ok(initial.is_none());
        }
        Event::Added(object) | Event::Modified(object) => match initial {
            Some(initial) => {
                if let Some(listed) = sink.listed(object) {
                    course.saw(listed.version);
                    if listed.is_new {
                        initial.progressed(Instant::now());
                    }
                }
                return Ok(false);
            }
            None => sink.changed(object),
        },
        Event::Deleted(object) => sink.deleted(object),
    };
    match (version, initial) {
        (Some(version), Some(_)) => course.saw(version),
        (Some(version), None) => return Ok(course.watched(version)),
        (None, _) => {}
    }
    Ok(false)
}

/// Watches end after 5 to 10 minutes, so that the load of many clients spreads over the API servers. Source: client-go
/// `tools/cache/reflector.go`, `minWatchTimeout`.
const MIN_WATCH_TIME: Duration = Duration::from_secs(300);
/// API servers send a bookmark each minute: a watch of a server that does, and then is silent for longer, has lost its other end. A list is
/// never silent for as long.
const IDLE_LIMIT: Duration = Duration::from_secs(90);
/// How much later than it was asked to an API server ends a watch.
const END_LIMIT: Duration = Duration::from_secs(30);
/// A watch that has stood for so long works, even if nothing came: it is followed by the next at once. As long as the longest backoff, so that a server
/// that ends watches early is not asked more often than one that fails.
const STEADY_AFTER: Duration = Duration::from_secs(30);
/// How long the first byte of an answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to hear where the API server is. Nothing is watched meanwhile.
const VERSION_LIMIT: Duration = Duration::from_secs(10);
/// How long a refusal holds, whoever wants the kind: reads in a loop do not flood the API server.
const REFUSED_FOR: Duration = Duration::from_secs(1);
/// A definition that is about to be installed is, most likely, within this time.
const ABSENT_FOR_LONG: Duration = Duration::from_secs(600);
/// From then on, the API server is asked once in this time to twice this time, and when somebody wants the kind.
const ABSENCE_WAIT: Duration = Duration::from_secs(300);
const LONGEST_ERROR: usize = 1 << 20;
const TRIES_PER_PAGE: usize = 10;

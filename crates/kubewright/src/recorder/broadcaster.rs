//! Takes events from the recorders to the API server.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    EventRecorder,
    journal::{Journal, Outcome, TICK},
    metrics::EventMetrics,
    occurrence::{EventsApi, Occurrence},
    sink::Sink,
};
use crate::{error, metrics::Registry};

/// Gives out recorders. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct EventBroadcaster {
    queue: mpsc::Sender<Occurrence>,
    metrics: EventMetrics,
}

/// Writes what the recorders of one broadcaster are told.
#[derive(Debug)]
pub(crate) struct EventWriter {
    sink: Sink,
    told: mpsc::Receiver<Occurrence>,
    metrics: EventMetrics,
}

impl EventBroadcaster {
    /// A broadcaster, and what has to run for its events to be written. What is told before that waits.
    pub(crate) fn new(kube: kube::Client, registry: &Registry) -> (Self, EventWriter) {
        let (queue, told) = mpsc::channel(MAX_QUEUED);
        let metrics = EventMetrics::of(registry);
        (Self { queue, metrics: metrics.clone() }, EventWriter { sink: Sink::new(kube), told, metrics })
    }

    /// A recorder whose events are of `events.k8s.io/v1`.
    pub(crate) fn recorder(&self, controller: &str) -> EventRecorder {
        EventRecorder::new(EventsApi::Series, controller, self.queue.clone(), self.metrics.clone())
    }

    /// A recorder whose events are of `v1`.
    pub(crate) fn core_recorder(&self, controller: &str) -> EventRecorder {
        EventRecorder::new(EventsApi::Core, controller, self.queue.clone(), self.metrics.clone())
    }
}

impl EventWriter {
    /// Runs it until it is stopped.
    pub(crate) fn start(self) -> RunningWriter {
        let (stopping, mut task) = (CancellationToken::new(), JoinSet::new());
        task.spawn(self.run(stopping.clone()));
        RunningWriter { stopping, task }
    }

    /// Runs until `stopping` fires; then it writes what is left, for [`FLUSH`] at most.
    async fn run(self, stopping: CancellationToken) {
        let Self { sink, mut told, metrics } = self;
        let mut desk = Desk::new(sink, metrics, stopping.clone());
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stopping.cancelled() => break,
                Some(occurrence) = told.recv(), if desk.journal.has_room() => desk.take(occurrence),
                () = desk.written() => {}
                _ = tick.tick() => desk.journal.tick(desk.now()),
            }
            desk.send();
        }
        told.close();
        while let Ok(occurrence) = told.try_recv() {
            desk.take(occurrence);
        }
        desk.flush().await;
    }
}

/// A writer that runs, and the owner of its task: dropped, it aborts it.
#[derive(Debug)]
pub(crate) struct RunningWriter {
    stopping: CancellationToken,
    task: JoinSet<()>,
}

impl RunningWriter {
    /// Writes what is left, for [`FLUSH`] at most.
    pub(crate) async fn stop(mut self) {
        self.stopping.cancel();
        while let Some(ended) = self.task.join_next().await {
            if let Err(panicked) = ended {
                tracing::error!(panic = error::join_message(panicked), "events were lost");
            }
        }
    }
}

/// The journal, and the requests that are on their way.
struct Desk {
    journal: Journal,
    /// Where the journal's time starts.
    origin: Instant,
    sink: Sink,
    writes: FuturesUnordered<BoxFuture<'static, (Arc<str>, Outcome)>>,
    metrics: EventMetrics,
    stopping: CancellationToken,
}

impl Desk {
    fn new(sink: Sink, metrics: EventMetrics, stopping: CancellationToken) -> Self {
        Self {
            journal: Journal::new(),
            origin: Instant::now(),
            sink,
            writes: FuturesUnordered::new(),
            metrics,
            stopping,
        }
    }

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    fn take(&mut self, occurrence: Occurrence) {
        self.journal.observe(occurrence, self.now());
    }

    /// Sends what may be sent.
    fn send(&mut self) {
        while self.writes.len() < MAX_WRITES
            && let Some(write) = self.journal.next()
        {
            let (sink, stopping) = (self.sink.clone(), self.stopping.clone());
            let sent = async move {
                let outcome = sink.write(&write, &stopping).await;
                (write.key, outcome)
            };
            self.writes.push(sent.boxed());
        }
    }

    /// Waits until one request has ended; for ever if there is none.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    async fn written(&mut self) {
        let Some((key, outcome)) = self.writes.next().await else { return std::future::pending().await };
        match outcome {
            Outcome::Written(_) => self.metrics.written.inc(),
            Outcome::Refused => self.metrics.refused.inc(),
            Outcome::GivenUp => self.metrics.failed.inc(),
            Outcome::Gone => {}
        }
        self.journal.done(key, outcome, self.now());
    }

    async fn flush(&mut self) {
        self.journal.flush();
        let all = async {
            self.send();
            while !self.writes.is_empty() {
                self.written().await;
                self.send();
            }
        };
        if timeout(FLUSH, all).await.is_err() {
            let left = self.journal.unwritten();
            self.metrics.failed.inc_by(left as u64);
            tracing::warn!(events = left, "stopped before all events were written");
        }
    }
}

/// Source: client-go `tools/events.maxQueuedEvents`.
const MAX_QUEUED: usize = 1000;
/// Requests at once.
const MAX_WRITES: usize = 8;
/// How long a process that stops still writes events.
const FLUSH: Duration = Duration::from_secs(5);

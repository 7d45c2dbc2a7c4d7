//! The informers of a cache: made on demand, run by one owner.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, interval, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    CacheError, CacheOptions,
    informer::{InUse, Informer, Progress},
    reflector::Target,
    roster::{LOOK_EVERY, Purpose, Roster},
    store::Store,
};
use crate::{metrics, object::Kind};

pub(super) struct Informers {
    client: kube::Client,
    options: CacheOptions,
    state: Mutex<State>,
}

struct State {
    roster: Roster,
    lifecycle: Lifecycle,
}

enum Lifecycle {
    Fresh,
    /// New informers go to the owner of the tasks, who takes each at once. A kind gets another one a minute after its last at the earliest, so
    /// the channel needs no bound.
    Running(mpsc::UnboundedSender<Arc<Informer>>),
    Stopped,
}

/// How long to wait for a kind that the API server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Not at all: a reconcile that waits holds a worker.
    OfReads,
    /// As for any other: the kind may be about to be installed.
    OfWatches,
}

impl Informers {
    pub(super) fn new(client: kube::Client, options: CacheOptions) -> Self {
        let roster = Roster::new(options.unread_informers_stay);
        Self { client, options, state: Mutex::new(State { roster, lifecycle: Lifecycle::Fresh }) }
    }

    /// The informer of `kind`; a new one if there is none.
    pub(super) fn get(&self, kind: &Kind, purpose: Purpose) -> InUse {
        let mut state = self.state.lock();
        if let Some(informer) = state.roster.find(kind, purpose) {
            return informer;
        }
        let informer = Arc::new(self.informer(kind));
        if let Lifecycle::Running(launch) = &state.lifecycle {
            // The receiver is dropped only after the lifecycle has become `Stopped`, under this lock.
            let _ = launch.send(Arc::clone(&informer));
        }
        state.roster.insert(Arc::clone(&informer), purpose, Instant::now());
        InUse::new(informer)
    }

    fn informer(&self, kind: &Kind) -> Informer {
        let target =
            Target { kind: kind.clone(), namespace: None, label_selector: None, field_selector: None };
        let store = Store::new(self.options.decoded_bytes, self.options.keep_managed_fields);
        let metrics = self.options.metrics_registry.as_ref().unwrap_or_else(|| metrics::registry());
        Informer::new(target, store, metrics)
    }

    pub(super) fn of(&self, kind: &Kind) -> Vec<Arc<Informer>> {
        let state = self.state.lock();
        state.roster.all().filter(|informer| informer.kind().is_same_resource(kind)).map(Arc::clone).collect()
    }

    pub(super) fn all(&self) -> Vec<InUse> {
        self.state.lock().roster.all().map(Arc::clone).map(InUse::new).collect()
    }

    /// Ends the informers that nobody has used for long.
    fn end_unused(&self, now: Instant) {
        let unused = self.state.lock().roster.take_unused(now);
        for informer in unused {
            tracing::debug!(kind = %informer.kind(), "nobody uses the informer any more");
            informer.end();
        }
    }

    /// Some kind that has no complete list yet is an error.
    pub(super) fn check_synced(&self) -> Result<(), CacheError> {
        self.check_running()?;
        match self.all().iter().find(|informer| !informer.has_synced()) {
            None => Ok(()),
            Some(informer) => {
                let (kind, failure) = (informer.kind().clone(), informer.progress().failure);
                Err(CacheError::NotSynced { kind, failure })
            }
        }
    }

    /// Nothing can be read before the start or after the stop.
    pub(super) fn check_running(&self) -> Result<(), CacheError> {
        match self.state.lock().lifecycle {
            Lifecycle::Fresh => Err(CacheError::NotStarted),
            Lifecycle::Running(_) => Ok(()),
            Lifecycle::Stopped => Err(CacheError::Stopped),
        }
    }

    /// Waits until the informer is synced, for as long as `limit` says, or the options. `whose` decides what a refusal means.
    pub(super) async fn wait_for_sync(
        &self,
        informer: &Informer,
        limit: Option<Duration>,
        whose: Patience,
    ) -> Result<(), CacheError> {
        self.check_running()?;
        if informer.has_synced() {
            return Ok(());
        }
        // What was refused may be allowed by now, and somebody wants it.
        informer.hurry();
        let limit = limit.unwrap_or(self.options.sync_timeout);
        let mut refusal = None;
        let settled = |progress: &Progress| {
            refusal = progress.refusal().filter(|_| whose == Patience::OfReads && !progress.synced).cloned();
            progress.synced || refusal.is_some()
        };
        let ended = timeout(limit, informer.wait_until(settled)).await;
        let kind = informer.kind().clone();
        match (ended, refusal) {
            (Err(_), _) => {
                let failure = informer.progress().failure;
                Err(CacheError::SyncTimeout { kind, timeout: limit, failure })
            }
            (Ok(Err(_)), _) => Err(CacheError::Stopped),
            (Ok(Ok(())), Some(failure)) => Err(CacheError::Refused { kind, failure }),
            (Ok(Ok(())), None) => Ok(()),
        }
    }

    /// From here on the cache can be read. Its informers follow their kinds once the tenure runs.
    pub(super) fn begin(self: &Arc<Self>) -> Result<Tenure, CacheError> {
        let (launch, launched) = mpsc::unbounded_channel();
        let mut state = self.state.lock();
        if !matches!(state.lifecycle, Lifecycle::Fresh) {
            return Err(CacheError::AlreadyStarted);
        }
        for informer in state.roster.all() {
            // The receiver is still here.
            let _ = launch.send(Arc::clone(informer));
        }
        state.lifecycle = Lifecycle::Running(launch);
        Ok(Tenure { informers: Arc::clone(self), launched })
    }
}

/// A cache between its start and its stop, and the owner of its informers' tasks. Dropped, it is the stop.
pub(super) struct Tenure {
    informers: Arc<Informers>,
    launched: mpsc::UnboundedReceiver<Arc<Informer>>,
}

impl Tenure {
    /// Runs the informers until `cancel` fires; returns after all have ended.
    pub(super) async fn run(mut self, cancel: CancellationToken) -> Result<(), CacheError> {
        let cancel = cancel.child_token();
        let mut tasks = JoinSet::new();
        let mut looks = interval(LOOK_EVERY);
        let result = loop {
            tokio::select! {
                () = cancel.cancelled() => break Ok(()),
                Some(informer) = self.launched.recv() => {
                    let (client, cancel) = (self.informers.client.clone(), cancel.child_token());
                    tasks.spawn(async move { informer.run(client, cancel).await });
                }
                Some(ended) = tasks.join_next() => if let Err(error) = ended {
                    break Err(CacheError::InformerFailed(error.to_string()));
                },
                now = looks.tick() => self.informers.end_unused(now),
            }
        };
        cancel.cancel();
        while tasks.join_next().await.is_some() {}
        result
    }
}

impl Drop for Tenure {
    fn drop(&mut self) {
        let mut state = self.informers.state.lock();
        state.lifecycle = Lifecycle::Stopped;
        for informer in state.roster.all() {
            informer.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::{
        cache::{Cache, ListOptions},
        object::ObjectKey,
        scripted::Server,
    };

    const MINUTE: Duration = Duration::from_secs(60);

    fn kind() -> Kind {
        Kind::of::<ConfigMap>()
    }

    /// A server with one object, and a cache of it that runs.
    fn world() -> (Server, Cache, JoinSet<Result<(), CacheError>>) {
        let server = Server::new();
        server.put("a");
        let cache = Cache::new(server.client(), CacheOptions::default());
        let running = JoinSet::from_iter([cache.start(CancellationToken::new())]);
        (server, cache, running)
    }

    /// Whether the server is watched after `time`, and how often it was listed by then.
    async fn watched_after(server: &Server, time: Duration) -> (bool, usize) {
        tokio::time::sleep(time).await;
        let lists = server.asked().into_iter().filter(|asked| asked.get("sendInitialEvents").is_some());
        (server.open_watches() > 0, lists.count())
    }

    async fn names(cache: &Cache) -> Vec<String> {
        let listed = cache.list::<ConfigMap>(&ListOptions::default()).await.unwrap();
        let mut names: Vec<_> = listed.iter().filter_map(|object| object.metadata.name.clone()).collect();
        names.sort();
        names
    }

    #[tokio::test(start_paused = true)]
    async fn an_informer_ends_a_minute_after_the_last_who_watches_and_the_next_gets_a_fresh_one() {
        let (server, cache, _running) = world();
        let (first, second) = (cache.informer(&kind()), cache.informer(&kind()));
        let _unheard = first.subscribe();
        cache.wait_for_sync(&first, MINUTE).await.unwrap();
        drop(first);
        assert_eq!(watched_after(&server, 60 * MINUTE).await, (true, 1));
        drop(second);
        assert_eq!(watched_after(&server, MINUTE / 2).await, (true, 1));
        assert_eq!(watched_after(&server, MINUTE).await, (false, 1));
        server.delete("a");
        server.put("b");
        assert_eq!(names(&cache).await, ["b"]);
        assert_eq!(watched_after(&server, MINUTE).await, (true, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn an_informer_that_is_wanted_again_in_time_goes_on() {
        let (server, cache, _running) = world();
        for _ in 0..20 {
            let informer = cache.informer(&kind());
            cache.wait_for_sync(&informer, MINUTE).await.unwrap();
            drop(informer);
            assert_eq!(watched_after(&server, MINUTE * 5 / 6).await, (true, 1));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_each_half_hour_lists_once_and_who_reads_no_more_frees_the_memory() {
        let (server, cache, _running) = world();
        for _ in 0..10 {
            assert_eq!(names(&cache).await, ["a"]);
            assert_eq!(watched_after(&server, 30 * MINUTE).await, (true, 1));
        }
        assert_eq!(watched_after(&server, 31 * MINUTE).await, (false, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_informer_that_was_asked_for_stays_and_so_does_one_that_is_waited_for() {
        let (server, cache, _running) = world();
        let wanted = ObjectKey::new("default", "late");
        let mut waits = pin!(cache.wait_for::<ConfigMap>(&wanted, |object| object.is_some()));
        assert!(timeout(60 * MINUTE, &mut waits).await.is_err());
        server.put("late");
        assert!(waits.await.unwrap().is_some());
        assert_eq!(watched_after(&server, 2 * MINUTE).await, (false, 1));
        cache.watch::<ConfigMap>();
        assert_eq!(watched_after(&server, 24 * 60 * MINUTE).await, (true, 2));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_read_meets_an_informer_that_ends() {
        let (server, cache, _running) = world();
        let readers = (0..2).map(|_| {
            let cache = cache.clone();
            async move {
                for _ in 0..1000 {
                    let key = ObjectKey::new("default", "a");
                    cache.get::<ConfigMap>(&key).await.unwrap();
                    assert_eq!(names(&cache).await, ["a"]);
                    let informer = cache.informer(&kind());
                    let mut subscription = informer.subscribe();
                    let heard = timeout(MINUTE, subscription.next()).await.expect("it is never deaf");
                    assert!(heard.is_some());
                    drop(informer);
                    tokio::task::yield_now().await;
                }
            }
        });
        let readers: JoinSet<()> = readers.collect();
        let ending = async {
            let mut now = Instant::now();
            loop {
                // The second look finds nobody but those who use it at this very moment.
                for _ in 0..2 {
                    now += 120 * MINUTE;
                    cache.informers.end_unused(now);
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = readers.join_all() => {}
            () = ending => {}
        }
        let (_, lists) = watched_after(&server, Duration::ZERO).await;
        assert!(lists > 1, "none has ended");
    }
}

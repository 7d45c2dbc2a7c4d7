//! What runs when, and how it stops, row by row of controller-runtime's own suite (`pkg/manager`).
//!
//! Rows without a test here:
//! - "scheme, mapper, client, cache, recorder and lock constructors return errors": there are no such hooks; a client of one's own is given as a value.
//! - "webhook server lazily initialised", "kept", "disabled with port -1": a server is a value that is added, or not.
//! - "metrics server", "probes": in `metrics.rs` and `healthz.rs`. "pprof": there is none.
//! - "rest.Config not mutated": it is taken by value. "controller logger": spans; see `groups.rs`.
//! - "lock, namespace, labels, identity, renew deadline, release": in `leader_election.rs`.
//! - "context.Canceled not returned": to be asked to stop is no error. "both errors returned": the first is, others are logged.
//! - "no goroutine leaks": `stop_points.rs`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "manager/clusters.rs"]
mod clusters;
mod common;
#[path = "manager/groups.rs"]
mod groups;
#[path = "manager/stop_points.rs"]
mod stop_points;

use std::{sync::Arc, time::Duration};

use common::{Counter, Journal, config_map, key};
use futures::FutureExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    error_chain,
    leader_election::Elector,
    manager::{Manager, Runnable, StartError},
    prelude::*,
};
use kubewright_testing::TestEnv;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// Notes its start and its end; ends with what it was told, or when it is asked to.
struct Noted {
    name: &'static str,
    journal: Journal,
    leader_only: bool,
    fails_after: Option<Duration>,
    takes_to_stop: Duration,
}

impl Noted {
    fn new(name: &'static str, journal: &Journal) -> Self {
        Self {
            name,
            journal: journal.clone(),
            leader_only: true,
            fails_after: None,
            takes_to_stop: Duration::ZERO,
        }
    }
}

impl Runnable for Noted {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        self.journal.write(format!("{} starts", self.name));
        let fails_at = self.fails_after.map(|after| Instant::now() + after);
        tokio::select! {
            () = cancel.cancelled() => {}
            () = async { sleep_until(fails_at.unwrap()).await }, if fails_at.is_some() => {
                self.journal.write(format!("{} fails", self.name));
                return Err(format!("{} is broken", self.name).into());
            }
        }
        sleep_until(Instant::now() + self.takes_to_stop).await;
        self.journal.write(format!("{} ends", self.name));
        Ok(())
    }

    fn needs_leader_election(&self) -> bool {
        self.leader_only
    }

    fn name(&self) -> std::borrow::Cow<'static, str> {
        self.name.into()
    }
}

/// Leads when the test says so.
#[derive(Clone, Default)]
struct ByHand {
    acquire: Arc<Notify>,
    lose: Arc<Notify>,
    journal: Journal,
}

impl Elector for ByHand {
    async fn acquire(&mut self) -> Result<(), BoxError> {
        self.acquire.notified().await;
        self.journal.write("leads");
        Ok(())
    }

    async fn lost(&mut self) -> BoxError {
        self.lose.notified().await;
        "another process leads".into()
    }

    async fn release(self) {
        self.journal.write("releases");
    }
}

async fn a_second() {
    sleep_until(Instant::now() + Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn leader_only_runnables_wait_for_the_election_and_end_before_the_release() {
    let env = TestEnv::start().await;
    let elector = ByHand::default();
    let journal = elector.journal.clone();
    let manager = env.manager().elector(elector.clone()).build().await.unwrap();
    manager.add(Noted { leader_only: false, ..Noted::new("server", &journal) }).unwrap();
    manager.add(Noted::new("writer", &journal)).unwrap();
    let handle = manager.clone();
    let running = env.run(manager);
    a_second().await;
    handle.add(Noted::new("late writer", &journal)).unwrap();
    handle.add(Noted { leader_only: false, ..Noted::new("late server", &journal) }).unwrap();
    a_second().await;
    elector.acquire.notify_one();
    running.elected().await;
    a_second().await;
    running.stop().await.unwrap();
    let mut lines = journal.lines();
    lines[3..5].sort();
    lines[5..9].sort();
    assert_eq!(
        lines,
        [
            "server starts",
            "late server starts",
            "leads",
            "late writer starts",
            "writer starts",
            "late server ends",
            "late writer ends",
            "server ends",
            "writer ends",
            "releases",
        ]
    );
    assert_eq!(
        handle.add(Noted::new("too late", &journal)).unwrap_err().to_string(),
        "can't accept new runnable as stop procedure is already engaged"
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_leadership_ends_the_manager_at_once_and_is_not_released() {
    let env = TestEnv::start().await;
    let elector = ByHand::default();
    let journal = elector.journal.clone();
    let manager = env.manager().elector(elector.clone()).build().await.unwrap();
    manager.add(Noted { takes_to_stop: Duration::from_secs(10), ..Noted::new("writer", &journal) }).unwrap();
    let running = env.run(manager);
    elector.acquire.notify_one();
    running.elected().await;
    a_second().await;
    let before = Instant::now();
    elector.lose.notify_one();
    let error = running.ended().await.unwrap_err();
    assert_eq!(error.to_string(), "leader election lost");
    assert!(before.elapsed() < Duration::from_secs(1));
    assert_eq!(journal.lines(), ["leads", "writer starts"]);
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_is_stopped_before_it_leads_never_leads() {
    let env = TestEnv::start().await;
    let elector = ByHand::default();
    let manager = env.manager().elector(elector.clone()).build().await.unwrap();
    manager.add(Noted::new("writer", &elector.journal)).unwrap();
    let running = env.run(manager);
    a_second().await;
    running.stop().await.unwrap();
    elector.acquire.notify_one();
    a_second().await;
    assert!(elector.journal.lines().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_warm_controller_has_its_queue_full_when_it_becomes_the_leader() {
    for enable_warmup in [false, true] {
        let env = TestEnv::start().await;
        env.create(&config_map("a", &[])).await;
        let elector = ByHand::default();
        let manager = env.manager().elector(elector.clone()).build().await.unwrap();
        let counter = Counter::default();
        Controller::builder(&manager)
            .for_::<ConfigMap>()
            .enable_warmup(enable_warmup)
            .complete(counter.clone())
            .unwrap();
        let cache = manager.cache().clone();
        let running = env.run(manager);
        a_second().await;
        assert_eq!(counter.of(&key("a")), 0);
        assert_eq!(format!("{cache:?}").contains("ConfigMap"), enable_warmup, "{cache:?}");
        elector.acquire.notify_one();
        counter.wait_for(&key("a"), 1).await;
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_needs_no_leader_runs_on_a_standby() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let manager = env.manager().elector(ByHand::default()).build().await.unwrap();
    let counter = Counter::default();
    let builder = Controller::builder(&manager).for_::<ConfigMap>();
    builder.needs_leader_election(false).complete(counter.clone()).unwrap();
    let running = env.run(manager);
    counter.wait_for(&key("a"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_runnable_is_returned_and_the_others_are_waited_for() {
    let env = TestEnv::start().await;
    let journal = Journal::default();
    let manager = env.manager().build().await.unwrap();
    manager
        .add(Noted { fails_after: Some(Duration::from_secs(5)), ..Noted::new("broken", &journal) })
        .unwrap();
    manager.add(Noted { takes_to_stop: Duration::from_secs(5), ..Noted::new("slow", &journal) }).unwrap();
    let error = env.run(manager).ended().await.unwrap_err();
    assert_eq!(error.to_string(), "broken failed");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "broken is broken");
    assert_eq!(journal.lines()[2..], ["broken fails", "slow ends"]);
}

/// How long a manager takes to stop that runs something which needs `takes`, and what it says.
async fn stop(takes: Duration, grace: Duration) -> (u64, Option<String>) {
    let env = TestEnv::start().await;
    let journal = Journal::default();
    let manager = env.manager().graceful_shutdown_timeout(grace).build().await.unwrap();
    manager.add(Noted { takes_to_stop: takes, ..Noted::new("slow", &journal) }).unwrap();
    let running = env.run(manager);
    running.elected().await;
    a_second().await;
    let before = Instant::now();
    let result = running.stop().await;
    (before.elapsed().as_secs(), result.err().map(|error| error.to_string()))
}

#[tokio::test(start_paused = true)]
async fn the_grace_period_bounds_the_stop() {
    let (minute, day) = (Duration::from_secs(60), Duration::from_secs(86_400));
    assert_eq!(stop(minute, 2 * minute).await, (60, None));
    let late =
        "failed waiting for all runnables to end within grace period of 60s: late were slow".to_owned();
    assert_eq!(stop(2 * minute, minute).await, (60, Some(late)));
    assert_eq!(stop(minute, Duration::ZERO).await, (0, None));
    assert_eq!(stop(day, Duration::MAX).await, (86_400, None));
}

#[tokio::test(start_paused = true)]
async fn a_manager_starts_once() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let again = manager.clone();
    let running = env.run(manager);
    running.elected().await;
    let error = again.start(std::future::pending()).await.unwrap_err();
    assert!(matches!(error, StartError::AlreadyStarted));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_reads_only_while_the_manager_runs() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let read = async || error_chain(&client.get::<ConfigMap>(&key("a")).await.unwrap_err());
    assert_eq!(
        read().await,
        "failed to get ConfigMap \"default/a\": the cache is not started, can not read objects"
    );
    let running = env.run(manager);
    running.elected().await;
    assert_eq!(read().await, "ConfigMap \"default/a\" not found");
    running.stop().await.unwrap();
    assert_eq!(read().await, "failed to get ConfigMap \"default/a\": the cache has stopped");
}

#[tokio::test]
async fn public_futures_are_send() {
    fn send<T: Send>(_: T) {}
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let key = key("a");
    send(client.get::<ConfigMap>(&key));
    send(client.list::<ConfigMap>().into_future());
    let object = config_map("a", &[]);
    send(client.create(&object));
    send(client.update(&object));
    send(client.status().update(&object));
    send(manager.cache().wait_for_cache_sync());
    send(Manager::builder().build());
    send(manager.start(std::future::pending()));
}

/// Reads the cache in its first step, and says how that went.
struct ReadsAtOnce {
    client: Client,
    leader_only: bool,
    said: tokio::sync::mpsc::UnboundedSender<String>,
}

impl Runnable for ReadsAtOnce {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        let read = self.client.get::<ConfigMap>(&key("a")).await;
        self.said.send(read.unwrap_err().to_string())?;
        cancel.cancelled().await;
        Ok(())
    }

    fn needs_leader_election(&self) -> bool {
        self.leader_only
    }
}

async fn whoever_is_started_can_read() {
    for _ in 0..50 {
        let env = TestEnv::start().await;
        let manager = env.manager().build().await.unwrap();
        let (said, mut reads) = tokio::sync::mpsc::unbounded_channel();
        for leader_only in [false, true] {
            manager.add(ReadsAtOnce { client: manager.client(), leader_only, said: said.clone() }).unwrap();
        }
        let client = manager.client();
        let running = env.run(manager);
        running.elected().await;
        said.send(client.get::<ConfigMap>(&key("a")).await.unwrap_err().to_string()).unwrap();
        for _ in 0..3 {
            assert_eq!(reads.recv().await.unwrap(), "ConfigMap \"default/a\" not found");
        }
        running.stop().await.unwrap();
    }
}

#[tokio::test]
async fn whoever_is_started_can_read_on_one_thread() {
    whoever_is_started_can_read().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_started_can_read_on_several_threads() {
    whoever_is_started_can_read().await;
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_dropped_before_it_ran_has_stopped() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    drop(manager.cache().start(CancellationToken::new()));
    let error = manager.client().list::<ConfigMap>().await.unwrap_err();
    assert_eq!(error_chain(&error), "failed to list ConfigMap: the cache has stopped");
}

/// Blocks its thread from its first step until the test lets it go, whatever is cancelled or aborted.
struct Blocks {
    journal: Journal,
    blocked: Option<std::sync::mpsc::Receiver<()>>,
    is_blocked: Arc<Notify>,
}

impl Blocks {
    fn block(&mut self) {
        self.is_blocked.notify_one();
        // An error means that the test has let go.
        let _ = self.blocked.take().map(|blocked| blocked.recv());
        self.journal.write("the block ends");
    }
}

impl Runnable for Blocks {
    async fn start(mut self, _cancel: CancellationToken) -> Result<(), BoxError> {
        self.block();
        Ok(())
    }

    fn needs_leader_election(&self) -> bool {
        false
    }
}

/// Notes when it is dropped.
struct NotesItsDrop(Journal, &'static str);

impl Drop for NotesItsDrop {
    fn drop(&mut self) {
        self.0.write(self.1);
    }
}

impl Runnable for NotesItsDrop {
    async fn start(self, _cancel: CancellationToken) -> Result<(), BoxError> {
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn after_a_lost_leadership_what_needs_it_ends_before_anything_else() {
    let env = TestEnv::start().await;
    let elector = ByHand::default();
    let journal = elector.journal.clone();
    let manager = env.manager().elector(elector.clone()).build().await.unwrap();
    let (let_go, blocked) = std::sync::mpsc::channel();
    let is_blocked = Arc::new(Notify::new());
    let server = Blocks { journal: journal.clone(), blocked: Some(blocked), is_blocked: is_blocked.clone() };
    manager.add(server).unwrap();
    manager.add(NotesItsDrop(journal.clone(), "the writer ends")).unwrap();
    let running = env.run(manager);
    is_blocked.notified().await;
    elector.acquire.notify_one();
    running.elected().await;
    elector.lose.notify_one();
    journal.wait_for("the writer ends").await;
    let_go.send(()).unwrap();
    assert_eq!(running.ended().await.unwrap_err().to_string(), "leader election lost");
    assert_eq!(journal.lines(), ["leads", "the writer ends", "the block ends"]);
}

/// A reconciler that blocks its thread in its first run until the test lets it go.
struct BlockingReconciler(parking_lot::Mutex<Blocks>);

impl Reconciler for BlockingReconciler {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, _request: Request) -> Result<Action, BoxError> {
        self.0.lock().block();
        Ok(Action::await_change())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_reconcile_runs_when_the_leadership_is_released() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let elector = ByHand::default();
    let journal = elector.journal.clone();
    let manager = env
        .manager()
        .elector(elector.clone())
        .graceful_shutdown_timeout(Duration::ZERO)
        .build()
        .await
        .unwrap();
    let (let_go, blocked) = std::sync::mpsc::channel();
    let is_blocked = Arc::new(Notify::new());
    let blocks = Blocks { journal: journal.clone(), blocked: Some(blocked), is_blocked: is_blocked.clone() };
    Controller::builder(&manager)
        .for_::<ConfigMap>()
        .complete(BlockingReconciler(parking_lot::Mutex::new(blocks)))
        .unwrap();
    manager.add(NotesItsDrop(journal.clone(), "another is aborted")).unwrap();
    let running = env.run(manager);
    elector.acquire.notify_one();
    is_blocked.notified().await;
    let stopping = tokio::task::JoinSet::from_iter([running.stop()]);
    // Whoever is to be aborted has been.
    journal.wait_for("another is aborted").await;
    let_go.send(()).unwrap();
    stopping.join_all().await.pop().unwrap().unwrap();
    assert_eq!(journal.lines(), ["leads", "another is aborted", "the block ends", "releases"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_panics_beside_a_reconcile_that_hangs_ends_the_manager() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let manager = env.manager().build().await.unwrap();
    let hangs = Arc::new(Notify::new());
    let (hangs_now, panics) = (hangs.clone(), hangs.clone());
    let reconciler = kubewright::reconcile::from_fn(move |_: Context, _: Request| {
        hangs_now.notify_one();
        std::future::pending::<Result<Action, BoxError>>()
    });
    let source = source::func(move |context: kubewright::source::SourceContext, _queue| async move {
        context.spawn(async move {
            panics.notified().await;
            panic!("the source is broken");
        });
        Ok(())
    });
    Controller::builder(&manager)
        .for_::<ConfigMap>()
        .watches_raw_source(source)
        .complete(reconciler)
        .unwrap();
    let before = Instant::now();
    let error = env.run(manager).ended().await.unwrap_err();
    assert_eq!(error.to_string(), "controller configmap failed");
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "a task of the controller panicked: the source is broken");
    assert_eq!(before.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn no_reconcile_starts_while_a_server_drains() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let journal = Journal::default();
    let drains = Duration::from_secs(25);
    manager
        .add(Noted { leader_only: false, takes_to_stop: drains, ..Noted::new("server", &journal) })
        .unwrap();
    let counter = Counter::default();
    let every_second =
        source::interval(Duration::from_secs(1), || std::future::ready(Ok::<_, BoxError>(vec![key("a")])));
    Controller::builder(&manager)
        .named("busy")
        .watches_raw_source(every_second)
        .complete(counter.clone())
        .unwrap();
    let running = env.run(manager);
    counter.wait_for(&key("a"), 3).await;
    let before = counter.of(&key("a"));
    running.stop().await.unwrap();
    assert_eq!(journal.lines(), ["server starts", "server ends"]);
    assert_eq!(counter.of(&key("a")), before);
}

/// Panics when it is asked to stop.
struct PanicsAtTheEnd(&'static str);

impl Runnable for PanicsAtTheEnd {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        cancel.cancelled().await;
        panic!("{} is broken", self.0);
    }

    fn name(&self) -> std::borrow::Cow<'static, str> {
        self.0.into()
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_panics_is_named() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    manager.add(PanicsAtTheEnd("door")).unwrap();
    let running = env.run(manager);
    running.elected().await;
    a_second().await;
    assert_eq!(running.stop().await.unwrap_err().to_string(), "door panicked: door is broken");
}

#[tokio::test(start_paused = true)]
async fn waits_end_with_the_failure_of_the_manager() {
    let env = TestEnv::start().await;
    let broken = async |elector: ByHand| {
        let manager = env.manager().elector(elector).build().await.unwrap();
        let fails =
            Noted { fails_after: Some(Duration::from_secs(5)), ..Noted::new("broken", &Journal::default()) };
        manager.add(Noted { leader_only: false, ..fails }).unwrap();
        env.run(manager)
    };
    let ends = async |wait: std::pin::Pin<Box<dyn Future<Output = ()> + '_>>| {
        let before = Instant::now();
        let panic = std::panic::AssertUnwindSafe(wait).catch_unwind().await.unwrap_err();
        assert!(before.elapsed() < Duration::from_secs(10));
        *panic.downcast::<String>().unwrap()
    };
    let running = broken(ByHand::default()).await;
    let said = ends(Box::pin(running.elected())).await;
    assert!(
        said.ends_with("a manager failed before it was elected: broken failed: broken is broken"),
        "{said}"
    );
    running.ended().await.unwrap_err();

    let running = broken(ByHand::default()).await;
    let said =
        ends(Box::pin(async { drop(env.wait_for::<ConfigMap>(&key("a"), |it| it.is_some()).await) })).await;
    assert!(
        said.ends_with(
            "waited in vain for default/a, since a manager failed: broken failed: broken is broken"
        ),
        "{said}"
    );
    running.ended().await.unwrap_err();
    // The test knows, so the next wait is as any other.
    env.wait_gone::<ConfigMap>(&key("a")).await;
}

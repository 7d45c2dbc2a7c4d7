//! What starts before what, and stops after what.

use kubewright::{
    http_server::{BindAddress, HttpServer, HttpServerOptions},
    manager::{Group, ManagerError},
    tracing::{self, Instrument},
};

use super::*;
use crate::common::http::get;

/// Notes its start and its end, and says itself when the next group may start.
struct InGroup {
    name: &'static str,
    group: Group,
    journal: Journal,
    may_go_on: Arc<Notify>,
}

impl Runnable for InGroup {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        self.journal.write(format!("{} starts", self.name));
        cancel.cancelled().await;
        // Whoever is asked to stop together has been by then.
        a_second().await;
        self.journal.write(format!("{} ends", self.name));
        Ok(())
    }

    fn group(&self) -> Group {
        self.group
    }

    fn started(&self) -> impl Future<Output = Result<(), BoxError>> + Send + 'static {
        let (name, journal, may_go_on) = (self.name, self.journal.clone(), self.may_go_on.clone());
        async move {
            may_go_on.notified().await;
            journal.write(format!("{name} is there"));
            Ok(())
        }
    }
}

const GROUPS: [(&str, Group); 6] = [
    ("http", Group::HttpServers),
    ("webhooks", Group::Webhooks),
    ("caches", Group::Caches),
    ("others", Group::Others),
    ("warm", Group::Warmup),
    ("leader", Group::LeaderElection),
];

#[tokio::test(start_paused = true)]
async fn each_group_starts_when_the_one_before_is_there_and_they_stop_the_other_way_round() {
    let env = TestEnv::start().await;
    let elector = ByHand::default();
    elector.acquire.notify_one();
    let journal = elector.journal.clone();
    let manager = env.manager().elector(elector.clone()).build().await.unwrap();
    let mut gates = Vec::new();
    // The order in which they are added says nothing.
    for (name, group) in GROUPS.into_iter().rev() {
        let may_go_on = Arc::new(Notify::new());
        gates.push(may_go_on.clone());
        manager.add(InGroup { name, group, journal: journal.clone(), may_go_on }).unwrap();
    }
    let running = env.run(manager);
    let mut expected = Vec::new();
    for ((name, group), gate) in GROUPS.into_iter().zip(gates.iter().rev()) {
        a_second().await;
        if group == Group::LeaderElection {
            expected.push("leads".to_owned());
        }
        expected.push(format!("{name} starts"));
        assert_eq!(journal.lines(), expected);
        gate.notify_one();
        expected.push(format!("{name} is there"));
    }
    running.elected().await;
    running.stop().await.unwrap();
    let mut ends = journal.lines().split_off(expected.len());
    ends[..3].sort();
    let order =
        ["leader ends", "others ends", "warm ends", "caches ends", "webhooks ends", "http ends", "releases"];
    assert_eq!(ends, order);
}

#[tokio::test(start_paused = true)]
async fn what_is_added_before_its_turn_waits_for_it() {
    let env = TestEnv::start().await;
    let elector = ByHand::default();
    let journal = elector.journal.clone();
    let manager = env.manager().elector(elector.clone()).build().await.unwrap();
    let may_go_on = Arc::new(Notify::new());
    let in_group =
        |name, group| InGroup { name, group, journal: journal.clone(), may_go_on: may_go_on.clone() };
    manager.add(in_group("webhooks", Group::Webhooks)).unwrap();
    let handle = manager.clone();
    let running = env.run(manager);
    a_second().await;
    handle.add(in_group("others", Group::Others)).unwrap();
    handle.add(in_group("http", Group::HttpServers)).unwrap();
    a_second().await;
    assert_eq!(journal.lines(), ["webhooks starts", "http starts"]);
    may_go_on.notify_waiters();
    a_second().await;
    assert_eq!(journal.lines().last().unwrap(), "others starts");
    running.stop().await.unwrap();
}

/// Source: controller-runtime `manager_test.go`, "should not allow adding runnables after the manager has stopped".
#[tokio::test(start_paused = true)]
async fn nothing_is_added_to_a_manager_that_stops_or_has_stopped() {
    let env = TestEnv::start().await;
    let journal = Journal::default();
    let manager = env.manager().build().await.unwrap();
    let late = |name| {
        let (journal, may_go_on) = (journal.clone(), Arc::new(Notify::new()));
        may_go_on.notify_one();
        InGroup { name, group: Group::Others, journal, may_go_on }
    };
    manager.add(late("first")).unwrap();
    let running = env.run(manager.clone());
    running.elected().await;
    let (stopped, ()) = tokio::join!(running.stop(), async {
        // What was started ends a second after it was asked to.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(matches!(manager.add(late("while it stops")), Err(ManagerError::Stopping)));
    });
    stopped.unwrap();
    assert!(matches!(manager.add(late("after it")), Err(ManagerError::Stopping)));
    assert!(journal.lines().iter().all(|line| line.starts_with("first ")), "{:?}", journal.lines());
}

/// Fails before it is there.
struct FailsToStart;

impl Runnable for FailsToStart {
    async fn start(self, _cancel: CancellationToken) -> Result<(), BoxError> {
        std::future::pending().await
    }

    fn group(&self) -> Group {
        Group::Webhooks
    }

    fn started(&self) -> impl Future<Output = Result<(), BoxError>> + Send + 'static {
        std::future::ready(Err("no door".into()))
    }

    fn name(&self) -> std::borrow::Cow<'static, str> {
        "door".into()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_starts_after_a_failed_group() {
    for _ in 0..20 {
        let env = TestEnv::start().await;
        let journal = Journal::default();
        let manager = env.manager().build().await.unwrap();
        manager.add(FailsToStart).unwrap();
        manager.add(Noted { leader_only: false, ..Noted::new("server", &journal) }).unwrap();
        let error = env.run(manager).ended().await.unwrap_err();
        assert_eq!(error.to_string(), "door failed");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no door");
        assert_eq!(journal.lines(), [""; 0]);
    }
}

fn server(address: &str, leader_only: bool) -> HttpServer {
    let mut options = HttpServerOptions::default();
    options.address = address.parse().unwrap();
    options.needs_leader_election = leader_only;
    HttpServer::new("pages", options)
}

#[tokio::test]
async fn a_server_of_ones_own_can_be_asked_for_its_port_and_stops_with_the_manager() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let pages = server(":0", false);
    manager.add(pages.clone()).unwrap();
    let running = env.run(manager);
    let address = pages.listening().await;
    assert_eq!(get(address, "/").await, (404, "404 page not found\n".to_owned()));
    running.elected().await;
    running.stop().await.unwrap();
    assert!(tokio::net::TcpStream::connect(("localhost", address.port())).await.is_err());
}

#[tokio::test]
async fn a_server_may_wait_for_the_leadership() {
    let env = TestEnv::start().await;
    let elector = ByHand::default();
    let manager = env.manager().elector(elector.clone()).build().await.unwrap();
    let pages = server("127.0.0.1:0", true);
    manager.add(pages.clone()).unwrap();
    let running = env.run(manager);
    let listens = pages.listening();
    tokio::pin!(listens);
    elector.journal.write("the test goes on");
    assert!(futures::poll!(&mut listens).is_pending());
    elector.acquire.notify_one();
    listens.await;
    running.elected().await;
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_off_keeps_nobody_waiting() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    manager.add(server("0", false)).unwrap();
    let running = env.run(manager);
    running.elected().await;
    running.stop().await.unwrap();
}

#[tokio::test]
async fn an_address_that_is_taken_stops_the_manager_before_anything_else_starts() {
    let env = TestEnv::start().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let journal = Journal::default();
    let manager = env.manager().health_probe_bind_address(BindAddress::from(address)).build().await.unwrap();
    manager.add(Noted { leader_only: false, ..Noted::new("server", &journal) }).unwrap();
    let error = env.run(manager).ended().await.unwrap_err();
    assert_eq!(error.to_string(), "health probe server failed");
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), format!("failed to listen on {address}"));
    assert_eq!(journal.lines(), [""; 0]);
}

/// Notes the span that it runs in.
struct NotesItsSpan(Journal);

impl Runnable for NotesItsSpan {
    async fn start(self, _cancel: CancellationToken) -> Result<(), BoxError> {
        self.0.write(tracing::Span::current().metadata().unwrap().name());
        Ok(())
    }
}

#[tokio::test]
async fn what_a_manager_runs_is_in_the_span_in_which_it_was_started() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let journal = Journal::default();
    manager.add(NotesItsSpan(journal.clone())).unwrap();
    let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry());
    let started = manager.start(journal.wait_for("the operator's"));
    started.instrument(tracing::info_span!("the operator's")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_process_that_lost_the_lease_may_compete_again() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let elector = ByHand::default();
    let counter = Counter::default();
    for times in 1..=3 {
        let manager = env.manager().elector(elector.clone()).build().await.unwrap();
        Controller::builder(&manager).for_::<ConfigMap>().complete(counter.clone()).unwrap();
        let running = env.run(manager);
        elector.acquire.notify_one();
        counter.wait_for(&key("a"), times).await;
        elector.lose.notify_one();
        assert!(running.ended().await.unwrap_err().is_leadership_lost());
        assert_eq!(counter.of(&key("a")), times);
    }
}

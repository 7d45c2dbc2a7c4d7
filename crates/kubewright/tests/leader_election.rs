//! Replicas that compete for one lease, on an API server that fails them.
//!
//! The rows of controller-runtime's `pkg/manager` about leader election:
//!
//! | upstream's row | test |
//! |---|---|
//! | the election is cancelled only after all runnables are done | `a_lease_is_kept_until_all_work_has_ended_and_then_given_up` |
//! | no graceful shutdown after the leadership is lost | `a_manager_that_loses_the_lease_while_it_stops_waits_for_nobody` |
//! | a manager that was not elected and shuts down never leads | `a_replica_that_stops_before_it_leads_never_does` |
//! | `RenewDeadline` of 10 s reaches the lock | `a_leader_that_is_cut_off_stops_before_another_may_start` |
//! | two managers with one ID: the second runs nothing | `LeaderWork`, in every test that has two replicas |
//! | no namespace outside of a cluster | `a_manager_outside_of_a_cluster_is_told_where_the_lease_is_or_is_not_built` |
//! | the default lock is a lease; `LeaderElectionLabels`; `ReleaseOnCancel` | `a_lease_says_what_client_go_writes` |
//! | an explicit kind of lock | none: Kubernetes has one kind left |
//! | a `ResourceLockInterface` of one's own | `a_manager_leads_by_a_lock_of_ones_own` |
//! | `LeaderElectionConfig` | `a_lease_is_asked_for_through_the_client_that_is_named_for_it` |
//! | wrong parameters | `durations_fit_each_other_as_in_go`; `build` says so, and not only `start` |
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "leader_election/custom_lock.rs"]
mod custom_lock;
#[path = "leader_election/rights.rs"]
mod rights;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::coordination::v1::Lease;
use kubewright::{
    leader_election::{Elector, LeaderElection, LeaderElectionError, LeaseElector},
    manager::{Manager, Runnable, StartError},
    metrics::Registry,
    prelude::*,
};
use kubewright_testing::{TestEnv, apiserver::Fault};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

fn election(identity: &str) -> LeaderElection {
    let mut election = LeaderElection::new("test.example.com");
    election.namespace = Some("default".into());
    election.identity = Some(identity.into());
    election
}

fn elector(env: &TestEnv, identity: &str) -> LeaseElector {
    LeaseElector::new(env.kube(), election(identity)).unwrap()
}

async fn leader(env: &TestEnv, identity: &str) -> LeaseElector {
    let mut elector = elector(env, identity);
    elector.acquire().await.unwrap();
    elector
}

async fn lease(env: &TestEnv) -> Lease {
    let leases: kube::Api<Lease> = kube::Api::namespaced(env.kube(), "default");
    leases.get("test.example.com").await.unwrap()
}

/// Lets `elector` do its work for this long; it must not lose.
async fn keeps_leading(elector: &mut LeaseElector, time: Duration) {
    let lost = timeout(time, elector.lost()).await;
    assert!(lost.is_err(), "{lost:?}");
    assert!(elector.leadership().check().is_ok());
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn a_lease_says_what_client_go_writes() {
    let env = TestEnv::start().await;
    let mut options = election("a");
    options.labels.insert("app".into(), "test".into());
    let mut elector = LeaseElector::new(env.kube(), options).unwrap();
    elector.acquire().await.unwrap();

    let stored = lease(&env).await;
    assert_eq!(stored.metadata.labels.unwrap()["app"], "test");
    let first = stored.spec.unwrap();
    assert_eq!(first.holder_identity.as_deref(), Some("a"));
    assert_eq!((first.lease_duration_seconds, first.lease_transitions), (Some(15), Some(0)));

    keeps_leading(&mut elector, seconds(60)).await;
    let renewed = lease(&env).await.spec.unwrap();
    assert_eq!(renewed.acquire_time, first.acquire_time);
    assert!(renewed.renew_time > first.renew_time);

    elector.release().await;
    let released = lease(&env).await.spec.unwrap();
    assert_eq!(released.holder_identity.as_deref(), Some(""));
    assert_eq!((released.lease_duration_seconds, released.lease_transitions), (Some(1), Some(0)));
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_taken_when_its_holder_is_gone_and_not_before() {
    let env = TestEnv::start().await;
    let mut first = leader(&env, "a").await;
    keeps_leading(&mut first, seconds(1)).await;
    // As a crash: nothing is released.
    let renewed = Instant::now();
    drop(first);

    let second = leader(&env, "b").await;
    let waited = renewed.elapsed();
    assert!(waited >= seconds(15) && waited < seconds(16), "{waited:?}");
    assert_eq!(second.leadership().check(), Ok(1));
}

#[tokio::test(start_paused = true)]
async fn one_slow_answer_is_not_a_loss() {
    let env = TestEnv::start().await;
    let mut elector = leader(&env, "a").await;
    for _ in 0..5 {
        env.server().faults().add(Fault::delay(seconds(6)));
        keeps_leading(&mut elector, seconds(20)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_not_a_loss() {
    let env = TestEnv::start().await;
    let mut elector = leader(&env, "a").await;
    env.server().faults().add(Fault::lose_answer().times(2));
    keeps_leading(&mut elector, seconds(30)).await;
    assert_eq!(lease(&env).await.spec.unwrap().lease_transitions, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_stops_before_another_may_start() {
    let env = TestEnv::start().await;
    let mut elector = leader(&env, "a").await;
    let leadership = elector.leadership().clone();
    env.server().faults().outage();
    let cut_off = Instant::now();

    let reason = elector.lost().await;
    assert_eq!(cut_off.elapsed(), seconds(10));
    assert!(leadership.check().is_err() && leadership.deadline().is_none());
    assert!(
        matches!(reason.downcast_ref(), Some(LeaderElectionError::Deadline { source: Some(_), .. })),
        "{reason:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_wakes_late_may_not_write_and_has_lost() {
    let env = TestEnv::start().await;
    let mut elector = leader(&env, "a").await;
    tokio::time::advance(seconds(60)).await;
    assert!(elector.leadership().check().is_err(), "before the elector has noticed");
    let before = lease(&env).await;
    elector.lost().await;
    assert_eq!(lease(&env).await, before, "who is late writes nothing");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_somebody_else_took_is_lost_at_once() {
    let env = TestEnv::start().await;
    let mut elector = leader(&env, "a").await;
    let mut stolen = lease(&env).await;
    let spec = stolen.spec.as_mut().unwrap();
    spec.holder_identity = Some("thief".into());
    let leases: kube::Api<Lease> = kube::Api::namespaced(env.kube(), "default");
    leases.replace("test.example.com", &kube::api::PostParams::default(), &stolen).await.unwrap();

    let reason = elector.lost().await;
    assert_eq!(reason.to_string(), "lease default/test.example.com is held by thief");
    elector.release().await;
    assert_eq!(lease(&env).await.spec.unwrap().holder_identity.as_deref(), Some("thief"));
}

/// Runs on the leader alone, and counts how many do at once.
struct LeaderWork {
    running: Arc<AtomicUsize>,
    takes_to_stop: Duration,
}

impl Runnable for LeaderWork {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        assert_eq!(self.running.fetch_add(1, Ordering::SeqCst), 0, "two lead");
        let running = scopeguard(self.running);
        cancel.cancelled().await;
        sleep(self.takes_to_stop).await;
        drop(running);
        Ok(())
    }
}

/// One less when it is dropped, by an abort too.
fn scopeguard(running: Arc<AtomicUsize>) -> impl Drop {
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    Guard(running)
}

struct Replica {
    manager: Manager,
    registry: Registry,
}

impl Replica {
    async fn new(env: &TestEnv, name: &str, running: &Arc<AtomicUsize>, takes_to_stop: Duration) -> Self {
        let registry = Registry::new();
        let manager = env
            .manager()
            .leader_election(election(name))
            .metrics_registry(registry.clone())
            .build()
            .await
            .unwrap();
        manager.add(LeaderWork { running: running.clone(), takes_to_stop }).unwrap();
        Self { manager, registry }
    }

    fn leads(&self) -> bool {
        let by_metric =
            self.registry.text().contains("leader_election_master_status{name=\"test.example.com\"} 1\n");
        assert_eq!(by_metric, self.manager.leadership().unwrap().check().is_ok());
        by_metric
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_kept_until_all_work_has_ended_and_then_given_up() {
    let (env, running) = (TestEnv::start().await, Arc::default());
    let first = Replica::new(&env, "a", &running, seconds(25)).await;
    let second = Replica::new(&env, "b", &running, Duration::ZERO).await;
    let running_first = env.run(first.manager.clone());
    running_first.elected().await;
    let running_second = env.run(second.manager.clone());
    sleep(seconds(60)).await;
    assert!(first.leads() && !second.leads());

    // Longer than a lease lasts; `LeaderWork` sees that the other one waits.
    let stopped = async {
        running_first.stop().await.unwrap();
        Instant::now()
    };
    let (stopped, ()) = tokio::join!(stopped, running_second.elected());
    assert!(stopped.elapsed() < seconds(1), "{:?}", stopped.elapsed());
    assert!(!first.leads() && second.leads());
    assert_eq!(lease(&env).await.spec.unwrap().lease_transitions, Some(1));
    running_second.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn another_replica_leads_after_a_crash() {
    let (env, running) = (TestEnv::start().await, Arc::default());
    let first = Replica::new(&env, "a", &running, Duration::ZERO).await;
    let second = Replica::new(&env, "b", &running, Duration::ZERO).await;
    let running_first = env.run(first.manager.clone());
    running_first.elected().await;
    let running_second = env.run(second.manager.clone());
    sleep(seconds(60)).await;

    let crashed = Instant::now();
    drop(running_first);
    running_second.elected().await;
    assert!(crashed.elapsed() <= seconds(17), "{:?}", crashed.elapsed());
    running_second.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_loses_the_lease_while_it_stops_waits_for_nobody() {
    let (env, running) = (TestEnv::start().await, Arc::<AtomicUsize>::default());
    let replica = Replica::new(&env, "a", &running, seconds(3600)).await;
    let manager = env.run(replica.manager.clone());
    manager.elected().await;
    env.server().faults().outage();
    let asked = Instant::now();
    let ended = manager.stop().await;
    assert!(matches!(ended, Err(StartError::LeadershipLost(_))), "{ended:?}");
    assert!(asked.elapsed() <= seconds(10));
    assert_eq!(running.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_stops_before_it_leads_never_does() {
    let (env, running) = (TestEnv::start().await, Arc::default());
    let _leader = leader(&env, "a").await;
    let replica = Replica::new(&env, "b", &running, Duration::ZERO).await;
    let manager = env.run(replica.manager.clone());
    sleep(seconds(5)).await;
    manager.stop().await.unwrap();
    assert_eq!(lease(&env).await.spec.unwrap().holder_identity.as_deref(), Some("a"));
}

/// Upstream: `LeaderElectionConfig`. What the manager does elsewhere does not delay its renewals.
#[tokio::test(start_paused = true)]
async fn a_lease_is_asked_for_through_the_client_that_is_named_for_it() {
    let (env, other) = (TestEnv::start().await, TestEnv::start().await);
    let builder = env.manager().leader_election(election("a")).leader_election_client(other.kube());
    let running = env.run(builder.build().await.unwrap());
    running.elected().await;
    env.server().faults().outage();
    sleep(seconds(60)).await;
    assert_eq!(lease(&other).await.spec.unwrap().holder_identity.as_deref(), Some("a"));
    running.stop().await.unwrap();
}

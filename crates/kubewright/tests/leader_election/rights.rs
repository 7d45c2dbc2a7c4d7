//! What a candidate is refused: rights and a namespace.

use std::{collections::BTreeMap, error::Error};

use http::StatusCode;
use k8s_openapi::api::{coordination::v1::Lease, core::v1::Namespace};
use kube::api::ObjectMeta;
use kubewright::{
    leader_election::{
        Elector, LeaderElection, LeaderElectionError, LeaderElectionRecord, LeaseElector, LeaseLock, Lock,
        LockError,
    },
    manager::ManagerError,
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, Status, Verb},
};
use tokio::time::timeout;

use super::{election, elector, leader, lease, seconds};

fn forbidden() -> Fault {
    Fault::respond(Status::new(StatusCode::FORBIDDEN, "Forbidden", "not for you")).always()
}

/// A right that is missing is named, in the words that a role needs.
#[tokio::test(start_paused = true)]
async fn missing_rights_are_named() {
    let env = TestEnv::start().await;
    let mut lock = LeaseLock::new(env.kube(), "default", "test.example.com", BTreeMap::new());
    let mut record = LeaderElectionRecord::default();
    record.lease_duration = seconds(15);
    lock.create(&record).await.unwrap();
    env.server().faults().add(forbidden());

    let refused = [
        ("get", lock.get().await.map(|_| ())),
        ("create", lock.create(&record).await),
        ("update", lock.update(&record).await),
    ];
    for (expected, answer) in refused {
        let error = answer.unwrap_err();
        let says = format!(
            "this process needs the right to {expected} leases.coordination.k8s.io in namespace \"default\""
        );
        assert_eq!(error.to_string(), says);
        assert!(matches!(error, LockError::Forbidden { verb, .. } if verb == expected), "{error:?}");
        assert!(error.source().unwrap().to_string().contains("not for you"));
    }
}

/// A leader whose rights are taken away has its reason to stop in the words above.
#[tokio::test(start_paused = true)]
async fn a_leader_that_may_not_renew_any_more_says_why_it_stopped() {
    let env = TestEnv::start().await;
    let mut elector = leader(&env, "a").await;
    env.server().faults().add(forbidden());
    let reason = elector.lost().await;
    let Some(LeaderElectionError::Deadline { source: Some(source), .. }) = reason.downcast_ref() else {
        panic!("{reason:?}")
    };
    assert!(matches!(source, LockError::Forbidden { .. }), "{source:?}");
}

/// Rights that are granted late make a leader; nobody has to restart it.
#[tokio::test(start_paused = true)]
async fn a_candidate_without_rights_goes_on_and_leads_once_it_has_them() {
    let env = TestEnv::start().await;
    let refused = env.server().faults().add(forbidden());
    let mut elector = elector(&env, "a");
    assert!(timeout(seconds(60), elector.acquire()).await.is_err());
    assert!(refused.fired() >= 10, "it stopped trying");
    refused.remove();
    timeout(seconds(5), elector.acquire()).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_may_not_watch_polls() {
    let env = TestEnv::start().await;
    let refused = env.server().faults().add(forbidden().when(|request| request.verb == Verb::Watch));
    let mut first = leader(&env, "a").await;
    let mut second = elector(&env, "b");
    let waits = timeout(seconds(60), async { tokio::join!(second.acquire(), first.lost()) });
    assert!(waits.await.is_err());
    assert!((1..10).contains(&refused.fired()), "asked {} times in a minute", refused.fired());
    first.release().await;
    timeout(seconds(5), second.acquire()).await.unwrap().unwrap();
}

/// A right that was granted after a minute is used, and so is a watch that broke many times.
#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_is_opened_again() {
    let env = TestEnv::start().await;
    let faults = env.server().faults();
    faults.add(Fault::cut_watch(1).times(10));
    faults.add(forbidden().times(2).when(|request| request.verb == Verb::Watch));
    let mut first = leader(&env, "a").await;
    let mut second = elector(&env, "b");
    let waits = timeout(seconds(300), async { tokio::join!(second.acquire(), first.lost()) });
    assert!(waits.await.is_err());
    assert_eq!(faults.pending(), 0);

    let (released, ()) = tokio::join!(timeout(seconds(60), second.acquire()), first.release());
    released.unwrap().unwrap();
    let spec = lease(&env).await.spec.unwrap();
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("b"), Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_does_not_exist_yet_is_waited_for() {
    let env = TestEnv::start().await;
    let mut options = election("a");
    options.namespace = Some("later".into());
    let mut elector = LeaseElector::new(env.kube(), options).unwrap();
    assert!(timeout(seconds(60), elector.acquire()).await.is_err());

    let metadata = ObjectMeta { name: Some("later".into()), ..ObjectMeta::default() };
    env.create(&Namespace { metadata, ..Namespace::default() }).await;
    timeout(seconds(5), elector.acquire()).await.unwrap().unwrap();
    let leases: kube::Api<Lease> = kube::Api::namespaced(env.kube(), "later");
    assert!(leases.get_opt("test.example.com").await.unwrap().is_some());
}

/// Upstream: "missing namespace out of cluster errors".
#[tokio::test]
async fn a_manager_outside_of_a_cluster_is_told_where_the_lease_is_or_is_not_built() {
    let env = TestEnv::start().await;
    let error = env.manager().leader_election(LeaderElection::new("a")).build().await.unwrap_err();
    assert!(matches!(error, ManagerError::LeaderElection(LeaderElectionError::Namespace(_))), "{error:?}");
    let says = error.source().unwrap().to_string();
    assert!(says.contains("not running in-cluster, please specify a namespace"), "{says}");
}

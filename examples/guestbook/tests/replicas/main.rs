//! Two processes of the operator on one API server: one leads, both serve webhooks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, reason = "a test is one crate")]

mod cluster;
mod kubectl;
mod replica;

use guestbook::Guestbook;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, api::PostParams};
use kubewright::prelude::*;

use crate::{cluster::Cluster, kubectl::Kubectl};

#[tokio::test]
async fn the_other_replica_takes_over_when_the_leader_is_killed() {
    let cluster = Cluster::start().await;
    let (one, other) = (cluster.replica().await, cluster.replica().await);
    let lease = Request::new("default", "guestbook.example.com");
    let holder = |lease: Option<&Lease>| lease?.spec.as_ref()?.holder_identity.clone();

    cluster.route_to(&one).await;
    cluster.guestbook_gets_ready("hall").await;
    let first = holder(cluster.env.wait_for::<Lease>(&lease, |lease| lease.is_some()).await.as_deref());
    let one_leads = tokio::select! {
        _ = one.tells("default/hall ") => true,
        _ = other.tells("default/hall ") => false,
    };
    let (leader, mut heir) = if one_leads { (one, other) } else { (other, one) };
    assert!(!heir.has_told("default/hall "), "one of two works");

    leader.kill().await;
    cluster.route_to(&heir).await;
    cluster.guestbook_gets_ready("attic").await;
    heir.tells("default/attic ").await;
    let taken = cluster.env.wait_for::<Lease>(&lease, |lease| holder(lease) != first).await.unwrap();
    assert_eq!(taken.spec.as_ref().unwrap().lease_transitions, Some(1));

    // Its webhooks are trusted, too: both have one CA.
    let guestbooks = Api::<Guestbook>::default_namespaced(cluster.env.kube());
    let refused = guestbooks.create(&PostParams::default(), &cluster.guestbook("crowd", 51)).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains(REFUSAL), "{refused}");
    assert!(heir.is_running());
}

/// What people read of it.
#[tokio::test]
#[ignore = "needs kubectl, see conformance/guestbook/run"]
async fn kubectl_shows_events_and_the_words_of_the_validator() {
    let cluster = Cluster::start().await;
    let replica = cluster.replica().await;
    cluster.route_to(&replica).await;
    let kubectl = Kubectl(&cluster.kubeconfig);

    let made = kubectl.apply(&cluster.guestbook("hall", 2)).await;
    assert_eq!(made, "guestbook.webapp.example.com/hall created\n");
    let events = ["created its ConfigMap", "created its Deployment", "created its Service"];
    let shown = kubectl.describes("guestbook/hall", &events).await;
    println!("{shown}");

    let refused = kubectl.apply(&cluster.guestbook("crowd", 51)).await;
    println!("{refused}");
    assert!(refused.starts_with("Error from server") && refused.contains(REFUSAL), "{refused}");
}

const REFUSAL: &str =
    "admission webhook \"vguestbook-v1.kb.io\" denied the request: spec.replicas: 51 is not between 0 and 50";

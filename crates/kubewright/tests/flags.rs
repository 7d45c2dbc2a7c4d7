//! An operator's command line, in a manager that runs.
#![cfg(feature = "clap")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use clap::Parser;
use common::http::get;
use kubewright::{flags::ManagerFlags, leader_election::LeaderElection};
use kubewright_testing::TestEnv;

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: ManagerFlags,
}

/// Each flag is seen in what the manager does.
#[tokio::test]
async fn flags_do_what_they_say() {
    let env = TestEnv::start().await;
    let line = "operator --leader-elect --leader-elect-resource-namespace default --health-probe-bind-address 127.0.0.1:0 \
        --metrics-bind-address 127.0.0.1:0 --metrics-secure=false";
    let args = Args::parse_from(line.split_whitespace());
    let builder = args.manager.apply(env.manager(), LeaderElection::new("test.example.com")).await.unwrap();
    let manager = builder.build().await.unwrap();
    let running = env.run(manager.clone());
    running.elected().await;

    let leases: kube::Api<k8s_openapi::api::coordination::v1::Lease> =
        kube::Api::namespaced(env.kube(), "default");
    assert!(leases.get_opt("test.example.com").await.unwrap().is_some());
    let (status, _) = get(manager.health_probe_address().await, "/healthz").await;
    assert_eq!(status, 200);
    let (status, text) = get(manager.metrics_address().await, "/metrics").await;
    assert_eq!(status, 200);
    assert!(text.contains("leader_election_master_status{name=\"test.example.com\"} 1"), "{text}");
    running.stop().await.unwrap();
}

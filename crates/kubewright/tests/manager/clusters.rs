//! More than one API server, and more than one failure.

use kubewright::cluster::Cluster;

use super::*;
use crate::common::logs::Lines;

/// Another API server, where there is one ConfigMap.
async fn elsewhere() -> (TestEnv, Cluster) {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let cluster = Cluster::builder().kube_client(env.kube()).build().await.unwrap();
    cluster.cache().watch::<ConfigMap>();
    (env, cluster)
}

/// Notes whether another cluster's cache has its first list.
struct Looks(Cluster, Journal);

impl Runnable for Looks {
    async fn start(self, _cancel: CancellationToken) -> Result<(), BoxError> {
        self.1.write(format!("{:?}", self.0.cache().check_synced().is_ok()));
        Ok(())
    }

    fn needs_leader_election(&self) -> bool {
        false
    }
}

#[tokio::test(start_paused = true)]
async fn added_clusters_have_synced_before_any_runnable_starts() {
    for _ in 0..20 {
        let (env, (_other, cluster)) = (TestEnv::start().await, elsewhere().await);
        let manager = env.manager().build().await.unwrap();
        let journal = Journal::default();
        manager.add(Looks(cluster.clone(), journal.clone())).unwrap();
        manager.add_cluster(&cluster).unwrap();
        let running = env.run(manager);
        running.elected().await;
        a_second().await;
        running.stop().await.unwrap();
        assert_eq!(journal.lines(), ["true"]);
        assert_eq!(cluster.cache().check_synced().unwrap_err().to_string(), "the cache has stopped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_is_added_to_a_running_manager_is_read_at_once() {
    let (env, (_other, cluster)) = (TestEnv::start().await, elsewhere().await);
    let manager = env.manager().build().await.unwrap();
    let handle = manager.clone();
    let running = env.run(manager);
    running.elected().await;
    handle.add_cluster(&cluster).unwrap();
    a_second().await;
    cluster.client().get::<ConfigMap>(&key("a")).await.unwrap();
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_fails_to_start_ends_the_manager() {
    let (env, (_other, cluster)) = (TestEnv::start().await, elsewhere().await);
    let manager = env.manager().build().await.unwrap();
    let journal = Journal::default();
    manager.add(Noted { leader_only: false, ..Noted::new("server", &journal) }).unwrap();
    // A cache starts once.
    manager.add_cluster(&cluster).unwrap();
    manager.add_cluster(&cluster).unwrap();
    let error = env.run(manager).ended().await.unwrap_err();
    assert!(matches!(error, StartError::Cache(_)), "{error}");
    assert_eq!(journal.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_first_failure_is_returned_and_what_follows_is_logged() {
    let logs = Lines::capture();
    let env = TestEnv::start().await;
    let journal = Journal::default();
    let manager = env.manager().build().await.unwrap();
    let never = Duration::from_secs(1000);
    manager
        .add(Noted { fails_after: Some(Duration::from_secs(1)), ..Noted::new("broken", &journal) })
        .unwrap();
    manager.add(Noted { takes_to_stop: never, ..Noted::new("slow", &journal) }).unwrap();
    assert_eq!(env.run(manager).ended().await.unwrap_err().to_string(), "broken failed");
    let late = "failed waiting for all runnables to end within grace period of 30s: late were slow";
    assert_eq!(logs.with(&["error received after stop sequence was engaged", late]).len(), 1);
}

#[tokio::test]
async fn a_configuration_that_is_not_usable_is_refused_when_it_is_built() {
    let mut config = kubewright::kube::Config::new("https://localhost:1".parse().unwrap());
    config.root_cert = Some(vec![b"no certificate".to_vec()]);
    let refused = Manager::builder().config(config).build().await.unwrap_err();
    assert_eq!(refused.to_string(), "failed to make a client");
}

//! Own writes on bad days, against the scripted API server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod scripted;

use std::{pin::pin, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    cache::{Cache, CacheError, CacheOptions},
    kube::{api::DeleteParams, core::ObjectMeta},
    object::ObjectKey,
    prelude::*,
};
use scripted::{Plan, Server};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

/// A client of `server` whose cache runs until the test ends.
fn client(server: &Server) -> (JoinSet<Result<(), CacheError>>, Client) {
    let cache = Cache::new(server.client(), CacheOptions::default());
    let mut tasks = JoinSet::new();
    tasks.spawn(cache.start(CancellationToken::new()));
    (tasks, Client::new(server.client(), cache))
}

#[tokio::test(start_paused = true)]
async fn a_client_reads_what_it_wrote() {
    let server = Server::new();
    let (_running, client) = client(&server);
    server.put("a");
    server.next(Plan::status(503, "ServiceUnavailable"));
    let read = client.get::<ConfigMap>(&key("a")).await.unwrap();
    assert_eq!(read.data.as_ref().unwrap()["value"], "0-1");
    server.delete("a");
    client.create(&config_map("a")).await.unwrap();
    assert_eq!(client.get::<ConfigMap>(&key("a")).await.unwrap().data, None);
}

#[tokio::test(start_paused = true)]
async fn own_writes_that_a_restore_undid_are_not_waited_for() {
    let server = Server::new();
    let (_running, client) = client(&server);
    for name in 0..5 {
        server.put(&name.to_string());
    }
    client.list::<ConfigMap>().await.unwrap();
    client.create(&config_map("undone")).await.unwrap();
    client.delete::<ConfigMap>(&key("0"), &DeleteParams::default()).await.unwrap();
    assert_eq!(client.list::<ConfigMap>().await.unwrap().len(), 5);
    server.restore(4);
    // Nothing can be known before the reflector has asked.
    client.cache().wait_for::<ConfigMap>(&key("undone"), |object| object.is_none()).await.unwrap();
    let start = Instant::now();
    assert!(client.get::<ConfigMap>(&key("undone")).await.unwrap_err().is_not_found());
    assert!(client.get::<ConfigMap>(&key("0")).await.is_ok());
    assert_eq!(client.list::<ConfigMap>().await.unwrap().len(), 4);
    client.create(&config_map("done")).await.unwrap();
    assert!(client.get::<ConfigMap>(&key("done")).await.is_ok());
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_read_that_waits_for_a_write_is_released_when_the_server_went_back() {
    let server = Server::new();
    let (_running, client) = client(&server);
    server.put("0");
    client.list::<ConfigMap>().await.unwrap();
    server.lag(0, 0);
    client.create(&config_map("undone")).await.unwrap();
    let undone = key("undone");
    let mut reading = pin!(client.get::<ConfigMap>(&undone));
    let waits = timeout(Duration::from_secs(1), &mut reading).await;
    assert!(waits.is_err(), "the cache has not seen the write");
    server.restore(0);
    assert!(reading.await.unwrap_err().is_not_found());
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("default", name)
}

fn config_map(name: &str) -> ConfigMap {
    let (namespace, name) = (Some("default".to_owned()), Some(name.to_owned()));
    ConfigMap { metadata: ObjectMeta { namespace, name, ..ObjectMeta::default() }, ..ConfigMap::default() }
}

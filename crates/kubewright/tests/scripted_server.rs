//! The scripted API server tells the truth where its plan does not say otherwise.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod scripted;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{cache::Cache, prelude::*};
use scripted::{Plan, Server};
use tokio_util::sync::CancellationToken;

#[tokio::test(start_paused = true)]
async fn a_client_reads_what_it_wrote() {
    let server = Server::new();
    let cache = Cache::new(server.client(), kubewright::cache::CacheOptions::default());
    let stop = CancellationToken::new();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(cache.start(stop.clone()));
    let client = Client::new(server.client(), cache);
    server.put("a");
    server.next(Plan::status(503, "ServiceUnavailable"));
    let key = kubewright::object::ObjectKey::new("default", "a");
    let read = client.get::<ConfigMap>(&key).await.unwrap();
    assert_eq!(read.data.as_ref().unwrap()["value"], "0-1");
    server.delete("a");
    client.create(&ConfigMap { metadata: read.metadata.clone(), ..ConfigMap::default() }).await.unwrap();
    assert_eq!(client.get::<ConfigMap>(&key).await.unwrap().data, None);
    stop.cancel();
    tasks.join_all().await;
}

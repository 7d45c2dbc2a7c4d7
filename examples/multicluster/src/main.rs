//! Two API servers in this process, one controller between them: says hello on one side and reads it on the other.

use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    cluster::Cluster,
    kube::{self, core::ObjectMeta},
    prelude::*,
};
use kubewright_apiserver::ApiServer;
use multicluster::SHARE;
use tokio::time::timeout;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    kubewright::log::init();
    let (left, right) = (ApiServer::builder().build(), ApiServer::builder().build());
    let manager =
        Manager::builder().kube_client(kube::Client::new(left.service(), "default")).build().await?;
    let other = Cluster::builder().kube_client(kube::Client::new(right.service(), "default")).build().await?;
    multicluster::add_to_manager(&manager, &other)?;

    let (client, cache) = (manager.client(), other.cache().clone());
    let mut outcome = Ok(());
    let hello = async {
        manager.elected().await;
        outcome = say_hello(&client, &cache).await;
    };
    manager.clone().start(hello).await?;
    outcome
}

async fn say_hello(left: &Client, right: &kubewright::cache::Cache) -> anyhow::Result<()> {
    let metadata = ObjectMeta {
        name: Some("hello".to_owned()),
        namespace: Some("default".to_owned()),
        labels: Some([(SHARE.0.to_owned(), SHARE.1.to_owned())].into()),
        ..ObjectMeta::default()
    };
    let data = Some([("greeting".to_owned(), "hello from the left".to_owned())].into());
    left.create(&ConfigMap { metadata, data, ..ConfigMap::default() }).await?;
    let key = Request::new("default", "hello");
    let arrived =
        right.wait_for::<ConfigMap>(&key, |config| config.is_some_and(|config| config.data.is_some()));
    let copy = timeout(Duration::from_secs(10), arrived).await.context("nothing arrived on the right")??;
    println!("on the right: {:?}", copy.and_then(|copy| copy.data.clone()).unwrap_or_default());
    Ok(())
}

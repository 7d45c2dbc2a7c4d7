//! Two clusters that share.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{client::Client, cluster::Cluster, kube::api::Patch, prelude::*};
use kubewright_testing::{RunningManager, TestEnv};
use multicluster::SHARE;
use serde_json::json;

struct Sides {
    left: TestEnv,
    right: TestEnv,
    left_client: Client,
    right_client: Client,
    running: RunningManager,
}

async fn sides() -> Sides {
    let (left, right) = (TestEnv::start().await, TestEnv::start().await);
    let manager = left.manager().build().await.unwrap();
    let other = Cluster::builder().kube_client(right.kube()).build().await.unwrap();
    multicluster::add_to_manager(&manager, &other).unwrap();
    let (left_client, right_client) = (manager.client(), other.client());
    let running = left.run(manager);
    running.elected().await;
    Sides { left, right, left_client, right_client, running }
}

fn config_map(env: &TestEnv, key: &Request, shared: bool, value: &str) -> ConfigMap {
    let mut metadata = env.meta(key);
    metadata.labels = shared.then(|| [(SHARE.0.to_owned(), SHARE.1.to_owned())].into());
    ConfigMap {
        metadata,
        data: Some([("value".to_owned(), value.to_owned())].into()),
        ..ConfigMap::default()
    }
}

fn has(value: &str) -> impl FnMut(Option<&ConfigMap>) -> bool {
    move |config| config.is_some_and(|config| config.data.as_ref().is_some_and(|data| data["value"] == value))
}

#[tokio::test(start_paused = true)]
async fn what_is_shared_on_either_side_is_on_both() {
    let sides = sides().await;
    let (a, b) = (Request::new("default", "a"), Request::new("default", "b"));
    sides.left.create(&config_map(&sides.left, &a, true, "from the left")).await;
    sides.right.create(&config_map(&sides.right, &b, true, "from the right")).await;
    sides.right.wait_for(&a, has("from the left")).await;
    sides.left.wait_for(&b, has("from the right")).await;

    let change = |value: &str| Patch::Merge(json!({ "data": { "value": value } }));
    sides.left_client.patch::<ConfigMap, _>(&a, &change("second")).await.unwrap();
    sides.right.wait_for(&a, has("second")).await;
    sides.right_client.patch::<ConfigMap, _>(&a, &change("third")).await.unwrap();
    sides.left.wait_for(&a, has("third")).await;
    sides.running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_not_shared_stays_where_it_is() {
    let sides = sides().await;
    let (private, shared) = (Request::new("default", "private"), Request::new("default", "shared"));
    sides.left.create(&config_map(&sides.left, &private, false, "x")).await;
    sides.left.create(&config_map(&sides.left, &shared, true, "y")).await;
    sides.right.wait_for(&shared, has("y")).await;
    assert!(sides.right_client.get::<ConfigMap>(&private).await.unwrap_err().is_not_found());
    sides.running.stop().await.unwrap();
}

//! Three hours with a period of half an hour, on paused time.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{kube::api::Patch, prelude::*};
use kubewright_testing::TestEnv;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

const PERIOD: Duration = Duration::from_secs(30 * 60);

/// How often each object was looked at.
#[derive(Clone, Default)]
struct Count(Arc<Mutex<BTreeMap<Request, usize>>>);

impl Reconciler for Count {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        *self.0.lock().entry(request).or_default() += 1;
        Ok(Action::await_change())
    }
}

#[tokio::test(start_paused = true)]
async fn every_object_is_reconciled_each_period_and_at_its_own_changes() {
    let env = TestEnv::start().await;
    let keys: Vec<_> = (0..20).map(|i| Request::new("default", format!("config-{i}"))).collect();
    for key in &keys {
        env.create(&ConfigMap { metadata: env.meta(key), ..ConfigMap::default() }).await;
    }
    let count = Count::default();
    let manager = env.manager().build().await.unwrap();
    periodic::add_to_manager(&manager, PERIOD, count.clone()).unwrap();
    let client = manager.client();
    let start = Instant::now();
    let running = env.run(manager);

    // Between two rounds, each object changes as often as its number says, up to three times.
    let mut changes = BTreeMap::new();
    for round in 0..3_u32 {
        sleep_until(start + PERIOD * round + PERIOD / 2).await;
        for (number, key) in keys.iter().enumerate().filter(|(number, _)| number % 4 > round as usize) {
            let patch = Patch::Merge(
                serde_json::json!({ "data": { "round": round.to_string(), "number": number.to_string() } }),
            );
            client.patch::<ConfigMap, _>(key, &patch).await.unwrap();
            *changes.entry(key.clone()).or_default() += 1;
        }
    }
    sleep_until(start + Duration::from_secs(3 * 60 * 60) + PERIOD / 2).await;
    running.stop().await.unwrap();

    let at_start = 1;
    let each_period = 6;
    let expected: BTreeMap<_, usize> = keys
        .into_iter()
        .map(|key| {
            let own = changes.get(&key).copied().unwrap_or(0);
            (key, at_start + each_period + own)
        })
        .collect();
    assert_eq!(*count.0.lock(), expected);
}

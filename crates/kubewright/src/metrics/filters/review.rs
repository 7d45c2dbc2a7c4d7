//! Questions to the API server, repeated where that helps.

use std::{fmt::Debug, time::Duration};

use kube::{Api, Resource, api::PostParams};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{sleep, timeout};

use crate::BoxError;

/// Asks the API server, and again if the answer is lost or the server says that it cannot answer now.
///
/// Source: apiserver `webhook.WithExponentialBackoff` and `webhook.DefaultShouldRetry`, with controller-runtime's numbers.
pub(super) async fn ask<K>(kube: &kube::Client, review: &K) -> Result<K, BoxError>
where
    K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone + Debug,
{
    let api = Api::<K>::all(kube.clone());
    let asking = async {
        let mut wait = FIRST_WAIT;
        for _ in 1..ATTEMPTS {
            match api.create(&PostParams::default(), review).await {
                Err(failure) if may_pass(&failure) => tracing::debug!(error = %failure, "a review failed"),
                answer => return answer,
            }
            sleep(wait.mul_f64(1.0 + JITTER * fastrand::f64())).await;
            wait = wait.mul_f64(FACTOR);
        }
        api.create(&PostParams::default(), review).await
    };
    Ok(timeout(DEADLINE, asking).await.map_err(|_| "the api server did not answer in time")??)
}

fn may_pass(failure: &kube::Error) -> bool {
    match failure {
        kube::Error::Api(status) => matches!(status.code, 429 | 500 | 504),
        kube::Error::HyperError(_) | kube::Error::Service(_) => true,
        _ => false,
    }
}

const ATTEMPTS: usize = 5;
const FIRST_WAIT: Duration = Duration::from_millis(500);
const FACTOR: f64 = 1.5;
const JITTER: f64 = 0.2;
const DEADLINE: Duration = Duration::from_secs(10);

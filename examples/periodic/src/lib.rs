//! A source of one's own: it gets the queue, and enqueues every ConfigMap each period, however quiet the cluster is.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{controller::BuildError, prelude::*, source::SourceContext};

/// Enqueues every ConfigMap each `period`.
#[derive(Debug)]
pub struct EveryPeriod {
    /// What knows the ConfigMaps.
    pub client: Client,
    /// The time between two rounds.
    pub period: Duration,
}

impl Source for EveryPeriod {
    async fn start(self, context: SourceContext, queue: Queue<Request>) -> Result<(), BoxError> {
        context.spawn(async move {
            loop {
                tokio::time::sleep(self.period).await;
                match self.client.list::<ConfigMap>().await {
                    Ok(all) => all.iter().for_each(|config| queue.add_rate_limited(Request::of(&**config))),
                    Err(error) => {
                        tracing::warn!(%error, "failed to list the ConfigMaps; the next round tries again");
                    }
                }
            }
        });
        Ok(())
    }
}

/// Adds a controller to `manager` that looks at each ConfigMap when it changes, and each `period`.
pub fn add_to_manager(
    manager: &Manager,
    period: Duration,
    reconciler: impl Reconciler,
) -> Result<(), BuildError> {
    Controller::builder(manager)
        .for_::<ConfigMap>()
        .watches_raw_source(EveryPeriod { client: manager.client(), period })
        .complete(reconciler)?;
    Ok(())
}

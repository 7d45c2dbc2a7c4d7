//! Says of every ConfigMap of a cluster that it was looked at: when it changes, and each half hour.

use std::time::Duration;

use kubewright::prelude::*;

struct Look;

impl Reconciler for Look {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        tracing::info!(%request, "looked at a ConfigMap");
        Ok(Action::await_change())
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    kubewright::log::init();
    let manager = Manager::builder().build().await?;
    periodic::add_to_manager(&manager, Duration::from_secs(30 * 60), Look)?;
    manager.start(signals::shutdown()).await?;
    Ok(())
}

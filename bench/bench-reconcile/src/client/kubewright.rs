//! kubewright's controller.

use std::{convert::Infallible, num::NonZeroU16, sync::Arc};

use anyhow::Result;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    controller::Controller,
    manager::Manager,
    reconcile::{Action, Context, Reconciler, Request},
};

use super::Reconciles;

struct Count(Arc<Reconciles>);

impl Reconciler for Count {
    type Error = Infallible;

    async fn reconcile(&self, _: Context, _: Request) -> Result<Action, Infallible> {
        self.0.count();
        Ok(Action::await_change())
    }
}

pub(super) async fn run(
    connection: kube::Client,
    workers: NonZeroU16,
    reconciles: Arc<Reconciles>,
) -> Result<()> {
    let manager = Manager::builder().kube_client(connection).build().await?;
    Controller::builder(&manager)
        .for_::<ConfigMap>()
        .max_concurrent_reconciles(workers.get().into())
        .complete(Count(reconciles))?;
    Ok(manager.start(std::future::pending()).await?)
}

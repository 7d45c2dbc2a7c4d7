//! kube-rs' controller.

use std::{convert::Infallible, num::NonZeroU16, sync::Arc};

use anyhow::Result;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    runtime::{
        Controller,
        controller::{Action, Config},
        watcher,
    },
};

use super::Reconciles;

pub(super) async fn run(
    connection: kube::Client,
    workers: NonZeroU16,
    reconciles: Arc<Reconciles>,
) -> Result<()> {
    Controller::new(Api::<ConfigMap>::all(connection), watcher::Config::default())
        .with_config(Config::default().concurrency(workers.get()))
        .run(reconcile, |_, error, _| match *error {}, reconciles)
        .for_each(async |result| {
            if let Err(error) = result {
                eprintln!("kube-rs goes on after: {error}");
            }
        })
        .await;
    Ok(())
}

async fn reconcile(_: Arc<ConfigMap>, reconciles: Arc<Reconciles>) -> Result<Action, Infallible> {
    reconciles.count();
    Ok(Action::await_change())
}

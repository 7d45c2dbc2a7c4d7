//! The clients of this program that are measured. Each has a controller whose reconciler does nothing but count.

mod floor;
mod kube_rs;
mod kubewright;
mod reconciles;

use std::{num::NonZeroU16, sync::Arc};

use anyhow::{Context, Result, bail, ensure};
use bench_common::usage::Memory;
use clap::ValueEnum;
use http::Request;
use kube::client::Body;
use tokio::task::JoinSet;

use self::reconciles::Reconciles;
use crate::{
    measurement::{Measurement, Stopwatch},
    options::Load,
};

/// Whose controller is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// kubewright's, with its default options.
    Kubewright,
    /// kube-rs', with its default options.
    KubeRs,
    /// None: reads the events and drops them, which is what the way from the server costs by itself.
    Floor,
}

/// Measures `client` and prints the measurement.
pub(crate) async fn run(client: Client, workers: NonZeroU16, url: &str, load: Load) -> Result<()> {
    println!("{}", serde_json::to_string(&measure(client, workers, url, load).await?)?);
    Ok(())
}

async fn measure(client: Client, workers: NonZeroU16, url: &str, load: Load) -> Result<Measurement> {
    let config = kube::Config::new(url.parse().context("failed to read where the server is")?);
    let connection = kube::Client::try_from(config)?;
    let reconciles = Arc::new(Reconciles::default());
    let mut running = JoinSet::new();

    reconciles.expect(load.objects)?;
    let first_list = Stopwatch::start();
    match client {
        Client::Kubewright => {
            running.spawn(kubewright::run(connection.clone(), workers, Arc::clone(&reconciles)));
        }
        Client::KubeRs => {
            running.spawn(kube_rs::run(connection.clone(), workers, Arc::clone(&reconciles)));
        }
        Client::Floor => {
            running.spawn(floor::run(connection.clone(), load.objects, Arc::clone(&reconciles)));
        }
    }
    wait(&reconciles, &mut running).await?;
    let first_list = first_list.stop();

    let mut rounds = Vec::new();
    for _ in 0..load.rounds {
        reconciles.expect(load.objects)?;
        let round = Stopwatch::start();
        change_every_object(&connection).await?;
        wait(&reconciles, &mut running).await?;
        rounds.push(round.stop());
    }
    let rss_bytes = if Memory::IS_KNOWN { Some(Memory::now()?.rss_bytes) } else { None };
    Ok(Measurement { first_list, rounds, rss_bytes })
}

async fn wait(reconciles: &Reconciles, running: &mut JoinSet<Result<()>>) -> Result<()> {
    tokio::select! {
        () = reconciles.reached() => Ok(()),
        ended = running.join_next() => bail!("the controller ended by itself: {ended:?}"),
    }
}

async fn change_every_object(connection: &kube::Client) -> Result<()> {
    let answer = connection.send(Request::post("/round").body(Body::empty())?).await?;
    ensure!(answer.status().is_success(), "the server answered {}", answer.status());
    Ok(())
}

impl Client {
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Kubewright => "kubewright",
            Self::KubeRs => "kube-rs",
            Self::Floor => "floor",
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::server::{self, Server};

    #[test]
    fn arguments_are_those_that_the_command_line_reads() {
        for client in Client::value_variants() {
            assert_eq!(Client::from_str(client.argument(), false).as_ref(), Ok(client));
        }
    }

    #[tokio::test]
    async fn every_client_reconciles_every_object_once_in_each_round() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut serving = JoinSet::new();
        serving.spawn(server::serve(listener, Server::new(1234).unwrap()));
        let load = Load { objects: 1234, rounds: 2 };
        for client in Client::value_variants() {
            for workers in [1, 8] {
                let workers = NonZeroU16::new(workers).unwrap();
                let measurement = measure(*client, workers, &url, load).await.unwrap();
                assert_eq!(measurement.rounds.len(), 2);
                assert!(measurement.rounds.iter().all(|round| round.cpu_seconds > 0.0));
            }
        }
    }
}

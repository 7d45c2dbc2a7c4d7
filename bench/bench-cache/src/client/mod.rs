//! The clients that are measured: each keeps a cache of all pods until it has been counted.

mod floor;
mod kube_rs;
mod kubewright;

use std::fmt;

use anyhow::{Result, ensure};
use bench_common::usage::{self, Memory};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tokio::{io::AsyncReadExt, time::Instant};

use crate::{
    door::{Address, Door},
    measurement::Measurement,
    pods::Pods,
    server,
};

/// Whose cache is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Client {
    /// kubewright's cache with its default options.
    Kubewright,
    /// kube-rs' reflector on a streaming list.
    KubeRsStreaming,
    /// The same, and `managedFields` are dropped on arrival.
    KubeRsStripped,
    /// kube-rs' reflector on its default list in pages.
    KubeRsPaged,
    /// Reads the streaming list and keeps nothing: what the way to the server costs by itself.
    Floor,
}

/// A cache that is in sync.
enum Synced {
    Kubewright(kubewright::Synced),
    KubeRs(kube_rs::Synced),
    Floor { bytes: u64 },
}

/// Measures `client` over `door` and prints the measurement.
pub(crate) async fn run(client: Client, door: Door, pods: Pods) -> Result<()> {
    let measurement = if door == Door::InProcess {
        let server = server::filled(pods).await?;
        measure(client, door, pods, server::client(&server)).await?
    } else {
        let mut input = Vec::new();
        tokio::io::stdin().read_to_end(&mut input).await?;
        let address: Address = serde_json::from_slice(&input)?;
        measure(client, door, pods, address.client(door).await?).await?
    };
    println!("{}", serde_json::to_string(&measurement)?);
    Ok(())
}

async fn measure(client: Client, door: Door, pods: Pods, connection: kube::Client) -> Result<Measurement> {
    let has_own_memory = door != Door::InProcess && Memory::IS_KNOWN;
    let memory_before = if has_own_memory { Some(Memory::now()?) } else { None };
    let (cpu, start) = (usage::cpu(), Instant::now());
    let synced = sync(client, connection).await?;
    let (wall, cpu) = (start.elapsed(), usage::cpu().saturating_sub(cpu));
    let memory_after = if has_own_memory { Some(Memory::settled().await?) } else { None };
    let received_bytes = if let Synced::Floor { bytes } = synced { Some(bytes) } else { None };
    let objects = synced.count(pods).await?;
    ensure!(objects == pods.objects, "{client} has {objects} pods of {}", pods.objects);
    Ok(Measurement { client, door, objects, received_bytes, cpu, wall, memory_before, memory_after })
}

async fn sync(client: Client, connection: kube::Client) -> Result<Synced> {
    let list = match client {
        Client::Kubewright => return kubewright::sync(connection).await.map(Synced::Kubewright),
        Client::Floor => return Ok(Synced::Floor { bytes: floor::read(connection).await? }),
        Client::KubeRsStreaming => kube_rs::List::Streaming,
        Client::KubeRsStripped => kube_rs::List::StreamingStripped,
        Client::KubeRsPaged => kube_rs::List::Paged,
    };
    kube_rs::sync(connection, list).await.map(Synced::KubeRs)
}

impl Synced {
    /// Counts the pods in the cache, after everything has been measured.
    async fn count(&self, pods: Pods) -> Result<usize> {
        match self {
            Self::Kubewright(synced) => synced.count(pods).await,
            Self::KubeRs(synced) => Ok(synced.count()),
            // It has seen the bookmark at the end of the list, which says that everything has been sent.
            Self::Floor { .. } => Ok(pods.objects),
        }
    }
}

impl Client {
    pub(crate) fn is_kube_rs(self) -> bool {
        matches!(self, Self::KubeRsStreaming | Self::KubeRsStripped | Self::KubeRsPaged)
    }

    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Kubewright => "kubewright",
            Self::KubeRsStreaming => "kube-rs-streaming",
            Self::KubeRsStripped => "kube-rs-stripped",
            Self::KubeRsPaged => "kube-rs-paged",
            Self::Floor => "floor",
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Kubewright => "kubewright",
            Self::KubeRsStreaming => "kube-rs, streaming list",
            Self::KubeRsStripped => "kube-rs, streaming, stripped",
            Self::KubeRsPaged => "kube-rs, default list",
            Self::Floor => "(bytes read and dropped)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_those_that_the_command_line_reads() {
        for client in Client::value_variants() {
            assert_eq!(Client::from_str(client.argument(), false).as_ref(), Ok(client));
        }
        for door in Door::value_variants() {
            assert_eq!(Door::from_str(door.argument(), false).as_ref(), Ok(door));
        }
    }

    #[tokio::test]
    async fn every_client_ends_with_every_pod() {
        let pods = Pods { objects: 230 };
        let server = server::filled(pods).await.unwrap();
        for client in Client::value_variants() {
            let measurement = measure(*client, Door::InProcess, pods, server::client(&server)).await.unwrap();
            assert_eq!(measurement.objects, 230);
            assert!(measurement.cpu_per_pod_us() > 0.0);
        }
    }
}

//! What is measured, in which order.

use anyhow::Result;

use crate::{children::Server, client::Client, door::Door, options::Options, report::Report};

/// Measures everything and prints the report.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let pods = options.pods();
    let shape = pods.shape();
    eprintln!("filling the server with {} pods", pods.objects);
    let server = Server::start(pods).await?;
    let mut measurements = Vec::new();
    for round in 1..=options.repeat {
        for (client, door) in PLAN {
            eprintln!("round {round} of {}: {client}, {door}", options.repeat);
            measurements.push(server.measure(*client, *door, pods).await?);
        }
    }
    server.stop().await?;
    print!("{}", Report::new(shape, options.repeat, PLAN, &measurements));
    Ok(())
}

/// Clients that are compared stand beside each other in time, so that a busy machine disturbs both.
const PLAN: &[(Client, Door)] = &[
    (Client::Floor, Door::Tls),
    (Client::Kubewright, Door::Tls),
    (Client::KubeRsStreaming, Door::Tls),
    (Client::KubeRsStripped, Door::Tls),
    (Client::KubeRsPaged, Door::Tls),
    (Client::Floor, Door::Plain),
    (Client::Kubewright, Door::Plain),
    (Client::KubeRsStreaming, Door::Plain),
    (Client::KubeRsStripped, Door::Plain),
    (Client::KubeRsPaged, Door::Plain),
    (Client::Floor, Door::InProcess),
    (Client::Kubewright, Door::InProcess),
];

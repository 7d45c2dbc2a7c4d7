//! What is measured, in which order.

use std::num::NonZeroU16;

use anyhow::Result;
use bench_common::go::GoProgram;

use crate::{
    children::Server,
    client::Client,
    options::Load,
    report::{Peer, Report, Row},
};

/// Measures everything and prints the report.
pub(crate) async fn run(load: Load) -> Result<()> {
    let go = GoProgram::build("reconcile");
    if let Err(reason) = &go {
        println!("controller-runtime is not measured: {reason:#}\n");
    }
    eprintln!("preparing {} objects", load.objects);
    let server = Server::start(load).await?;
    let mut rows = Vec::new();
    for workers in WORKERS.into_iter().filter_map(NonZeroU16::new) {
        for client in [Client::Floor, Client::Kubewright, Client::KubeRs] {
            eprintln!("{client:?}, {workers} at once");
            let measurement = server.measure(client, workers).await?;
            rows.push(Row { peer: Peer::This(client), workers, measurement });
        }
        if let Ok(program) = &go {
            eprintln!("controller-runtime, {workers} at once");
            let measurement = server.measure_go(program.file(), workers).await?;
            rows.push(Row { peer: Peer::ControllerRuntime, workers, measurement });
        }
    }
    server.stop().await?;
    print!("{}", Report { load, rows });
    Ok(())
}

/// Clients that are compared stand beside each other in time, so that a busy machine disturbs all of them.
const WORKERS: [u16; 2] = [1, 8];

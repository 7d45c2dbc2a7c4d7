//! What a cache of many pods costs: memory and CPU per pod, for kubewright's cache beside kube-rs' reflector, fed by one server in one run.
//!
//! `bench-cache --objects 20000` starts itself again as a server, fills it, then starts itself again for each client and each
//! door, and prints the table. Every client is a process of its own, so that its memory is nobody else's.

mod children;
mod client;
mod door;
mod measurement;
mod options;
mod plan;
mod pods;
mod report;
mod server;

use anyhow::Result;
use clap::Parser;

use crate::options::{Command, Options};

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    match options.command {
        None => plan::run(&options).await,
        Some(Command::Pods) => pods::print(options.pods()),
        Some(Command::Server) => server::run(options.pods()).await,
        Some(Command::Client { client, door }) => client::run(client, door, options.pods()).await,
    }
}

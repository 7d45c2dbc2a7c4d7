//! What a reconcile costs from the watch event that asks for it to its end: kubewright's controller beside those of kube-rs and controller-runtime.
//!
//! `cargo run --release -p bench-reconcile` starts itself again as a server of many `ConfigMap`s, then once for each client, and prints the
//! table. A client caches all objects and reconciles each by doing nothing; then, round after round, the server changes every object once,
//! and the client reconciles every object once. So what is measured is the framework: reading the event, the store, the queue, the worker.
//!
//! Every client is a process of its own, so that its CPU is nobody else's. controller-runtime's is a Go program, built from `bench/peers/go` if Go
//! is installed; otherwise the report says that it is missing.

mod children;
mod client;
mod measurement;
mod options;
mod plan;
mod report;
mod server;

use anyhow::Result;
use clap::Parser;

use crate::options::{Command, Options};

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    match options.command {
        None => plan::run(options.load()).await,
        Some(Command::Server) => server::run(options.load().objects).await,
        Some(Command::Client { client, workers, ref url }) => {
            client::run(client, workers, url, options.load()).await
        }
    }
}

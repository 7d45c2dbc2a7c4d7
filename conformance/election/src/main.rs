//! Replicas in Go and in Rust compete for one lease on our API server: one leads at a time, and the other one soon.
//!
//! - `fact` is what a replica prints, `term` what follows from it: pure.
//! - `replica` is the one in Rust; `child` runs it and the one in Go as processes.
//! - `plan` ends leaders and judges who comes next.

mod child;
mod fact;
mod plan;
mod replica;
mod term;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Lets replicas by client-go and by kubewright compete for one lease.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// How often each sort of end is seen by each sort of leader.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    cycles: u32,

    #[command(subcommand)]
    command: Option<Command>,
}

/// The part that the program starts itself for.
#[derive(Debug, Subcommand)]
enum Command {
    /// Take part in the election until asked to stop.
    #[command(hide = true)]
    Replica {
        /// How to reach the API server.
        kubeconfig: PathBuf,
        /// Who this is.
        identity: String,
    },
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let options = Options::parse();
    match options.command {
        Some(Command::Replica { kubeconfig, identity }) => {
            replica::run(kubeconfig, identity).await.map(|()| ExitCode::SUCCESS)
        }
        None => plan::run(options.cycles).await,
    }
}

//! Measures the work queue beside those of kube-rs, controller-runtime and client-go, in one run.
//!
//! `cargo run --release -p bench-queue` prints time per add, time per get + forget + done, both at once, and live bytes per
//! key, for 10⁴, 10⁵ and 10⁶ keys and 1, 2 and 8 producers. Each figure is the best of several rounds on fresh queues, for every
//! queue alike: on a shared machine the others show who else was at work. The rounds are spread over several passes through the whole
//! table, as such a disturbance may last for a while. Keys are made before a round, so that bytes are the queue's own.
//!
//! A round fills a queue twice. The first time it also measures what the system takes to find memory for it, which is a property of
//! the machine: where a page costs 2 µs, as on a virtual one, that is a third of an add. How fast the machine was during a run
//! shows in the figures of the plain list, which does the least that any queue must.
//!
//! The Go programs are built from `bench/peers/go` if Go is installed; otherwise the report says that they are missing. `-- --ours`
//! leaves the peers out, for a minute instead of ten.

mod go_peers;
mod goals;
mod keys;
mod kube_scheduler;
mod kubewright_queue;
mod list;
mod round;
mod table;

use std::alloc::System;

use cap::Cap;
use clap::Parser;

use self::go_peers::GoPeers;
use self::round::{Load, Row};

/// Counts the live bytes of the process; it never refuses any.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const PASSES: usize = 3;
const KEYS: [usize; 3] = [10_000, 100_000, 1_000_000];
const PRODUCERS: [usize; 3] = [1, 2, 8];
const CHURN: u64 = 10_000_000;

/// Measures the work queue beside those of kube-rs, controller-runtime and client-go.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Leaves the peers out: a minute instead of ten.
    #[arg(long)]
    ours: bool,
}

fn main() -> anyhow::Result<()> {
    let only_ours = Options::parse().ours;
    let peers = if only_ours { Err(anyhow::anyhow!("`--ours` was given")) } else { go_peers::build() };
    if let Err(reason) = &peers {
        println!("Go peers are not measured: {reason:#}\n");
    }

    let passes: Vec<_> =
        (0..PASSES).map(|_| pass(only_ours, peers.as_ref().ok())).collect::<Result<_, _>>()?;
    let rows = Row::best_of_each(&passes);
    let left_behind = kubewright_queue::bytes_after_churn(CHURN)?;
    table::print(&rows);
    println!(
        "bytes that a queue holds after {CHURN} distinct keys came, failed once and went: {left_behind}"
    );
    println!("{}", goals::judge(&rows, left_behind));
    Ok(())
}

/// Measures every queue under every load.
fn pass(only_ours: bool, peers: Option<&GoPeers>) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for keys in KEYS {
        for producers in PRODUCERS {
            let load = Load { keys, producers };
            rows.push(kubewright_queue::measure("kubewright, u64", load, "", keys::number)?);
            rows.push(kubewright_queue::measure(goals::OURS, load, "", keys::object)?);
            rows.push(kubewright_queue::measure("kubewright, measured", load, "bench", keys::object)?);
            rows.push(list::measure(goals::LIST, load, keys::object)?);
            if !only_ours {
                rows.push(kube_scheduler::measure(goals::KUBE_RS, load, keys::object)?);
            }
            if let Some(peers) = peers {
                rows.push(peers.measure(goals::CONTROLLER_RUNTIME, "pq", load)?);
                rows.push(peers.measure("client-go workqueue", "wq", load)?);
            }
        }
    }
    Ok(rows)
}

//! The queues of controller-runtime and client-go, through a Go program of ours.

use std::process::Command;

use anyhow::{Context, bail};
use bench_common::go::GoProgram;

use crate::round::{Load, Row};

/// The program, built.
#[derive(Debug)]
pub(crate) struct GoPeers {
    program: GoProgram,
}

/// Builds it, if Go is installed and its modules can be had.
pub(crate) fn build() -> anyhow::Result<GoPeers> {
    Ok(GoPeers { program: GoProgram::build("queue")? })
}

impl GoPeers {
    /// Measures one of its queues, `pq` or `wq`. Each round is a process of its own, as the heap of one would burden the next.
    pub(crate) fn measure(&self, name: &'static str, queue: &str, load: Load) -> anyhow::Result<Row> {
        let rows: Vec<Row> =
            (0..load.rounds()).map(|_| self.round(name, queue, load)).collect::<anyhow::Result<_>>()?;
        Row::best(&rows).context("there was no round")
    }

    fn round(&self, name: &'static str, queue: &str, load: Load) -> anyhow::Result<Row> {
        let output = Command::new(self.program.file())
            .args([queue, &load.keys.to_string(), &load.producers.to_string()])
            .output()
            .context("failed to run the Go peer")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let figures: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [first_add, add, get_forget_done, together, bytes] = figures[..] else {
            bail!("the Go peer printed {text:?} and {:?}", String::from_utf8_lossy(&output.stderr));
        };
        Ok(Row { queue: name, load, first_add, add, get_forget_done, together: Some(together), bytes })
    }
}

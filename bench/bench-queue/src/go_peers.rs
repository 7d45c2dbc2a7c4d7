//! The queues of controller-runtime and client-go, through a Go program of ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::round::{Load, Row};

/// The program, built.
#[derive(Debug)]
pub(crate) struct GoPeers {
    program: PathBuf,
}

/// Builds it, if Go is installed and its modules can be had.
pub(crate) fn build() -> anyhow::Result<GoPeers> {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers/go");
    let program = std::env::temp_dir().join(format!("kubewright-bench-queue-{}", std::process::id()));
    let output = Command::new("go")
        .current_dir(&module)
        .args(["build", "-o"])
        .arg(&program)
        .arg("./queue")
        .output()
        .context("failed to run `go build`")?;
    if !output.status.success() {
        bail!("`go build` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(GoPeers { program })
}

impl GoPeers {
    /// Measures one of its queues, `pq` or `wq`. Each round is a process of its own, as the heap of one would burden the next.
    pub(crate) fn measure(&self, name: &'static str, queue: &str, load: Load) -> anyhow::Result<Row> {
        let rows: Vec<Row> =
            (0..load.rounds()).map(|_| self.round(name, queue, load)).collect::<anyhow::Result<_>>()?;
        Row::best(&rows).context("there was no round")
    }

    fn round(&self, name: &'static str, queue: &str, load: Load) -> anyhow::Result<Row> {
        let output = Command::new(&self.program)
            .args([queue, &load.keys.to_string(), &load.producers.to_string()])
            .output()
            .context("failed to run the Go peer")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let figures: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [add, get_forget_done, together, bytes] = figures[..] else {
            bail!("the Go peer printed {text:?} and {:?}", String::from_utf8_lossy(&output.stderr));
        };
        Ok(Row { queue: name, load, add, get_forget_done, together: Some(together), bytes })
    }
}

impl Drop for GoPeers {
    fn drop(&mut self) {
        // A leftover in the temporary folder is not worth failing for.
        let _ = std::fs::remove_file(&self.program);
    }
}

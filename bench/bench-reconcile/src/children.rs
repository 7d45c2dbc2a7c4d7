//! The processes that are measured, and the one that feeds them.

use std::{num::NonZeroU16, path::Path, process::Stdio};

use anyhow::{Context, Result, bail, ensure};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{client::Client, measurement::Measurement, options::Load};

/// A server in a process of its own. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    url: String,
    load: Load,
}

impl Server {
    /// Starts a server and waits until it listens.
    pub(crate) async fn start(load: Load) -> Result<Self> {
        let mut child = this_program(load)?
            .arg("server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("failed to start the server")?;
        let output = child.stdout.take().context("the server has no output")?;
        let Some(url) = BufReader::new(output).lines().next_line().await? else {
            bail!("the server ended before it was ready: {}", child.wait().await?);
        };
        Ok(Self { child, url, load })
    }

    /// Measures a client of this program in a fresh process.
    pub(crate) async fn measure(&self, client: Client, workers: NonZeroU16) -> Result<Measurement> {
        let mut command = this_program(self.load)?;
        command.args(["client", client.argument(), &workers.to_string(), &self.url]);
        measurement(command).await
    }

    /// Measures controller-runtime in a fresh process of the Go program.
    pub(crate) async fn measure_go(&self, program: &Path, workers: NonZeroU16) -> Result<Measurement> {
        let mut command = Command::new(program);
        let Load { objects, rounds } = self.load;
        command.args([&self.url, &workers.to_string(), &objects.to_string(), &rounds.to_string()]);
        measurement(command).await
    }

    /// Ends the server and waits for its end.
    pub(crate) async fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait().await?;
        ensure!(status.success(), "the server failed: {status}");
        Ok(())
    }
}

async fn measurement(mut command: Command) -> Result<Measurement> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
    let output = command.spawn().context("failed to start a client")?.wait_with_output().await?;
    ensure!(output.status.success(), "a client failed: {}", output.status);
    serde_json::from_slice(&output.stdout).context("failed to read the measurement")
}

fn this_program(load: Load) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("failed to find this program")?);
    command.args(["--objects", &load.objects.to_string(), "--rounds", &load.rounds.to_string()]);
    Ok(command)
}

//! This program, started again: as the server, and once for each client.

use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};

use crate::{
    client::Client,
    door::{Address, Door},
    measurement::Measurement,
    pods::Pods,
};

/// A server in a process of its own. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: Address,
}

impl Server {
    /// Starts a server and waits until it holds the pods.
    pub(crate) async fn start(pods: Pods) -> Result<Self> {
        let mut child = this_program(pods)?.arg("server").spawn().context("failed to start the server")?;
        let output = child.stdout.take().context("the server has no output")?;
        let Some(line) = BufReader::new(output).lines().next_line().await? else {
            bail!("the server ended before it was ready: {}", child.wait().await?);
        };
        let address = serde_json::from_str(&line).context("failed to read where the server is")?;
        Ok(Self { child, address })
    }

    /// Measures one client in a fresh process.
    pub(crate) async fn measure(&self, client: Client, door: Door, pods: Pods) -> Result<Measurement> {
        let mut child = this_program(pods)?
            .arg("client")
            .args([client.argument(), door.argument()])
            .spawn()
            .context("failed to start a client")?;
        let mut input = child.stdin.take().context("the client has no input")?;
        input.write_all(&serde_json::to_vec(&self.address)?).await?;
        drop(input);
        let output = child.wait_with_output().await?;
        ensure!(output.status.success(), "{client} over {door} failed: {}", output.status);
        serde_json::from_slice(&output.stdout).context("failed to read the measurement")
    }

    /// Ends the server and waits for its end.
    pub(crate) async fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait().await?;
        ensure!(status.success(), "the server failed: {status}");
        Ok(())
    }
}

fn this_program(pods: Pods) -> Result<Command> {
    let program = std::env::current_exe().context("failed to find this program")?;
    let mut command = Command::new(program);
    command.arg("--objects").arg(pods.objects.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command)
}

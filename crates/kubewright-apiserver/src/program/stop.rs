//! How the program is asked to stop.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for SIGTERM and SIGINT from its making on: make it before anything is printed or served, so that whoever
/// finds the program ready may also stop it.
pub(crate) struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("failed to listen for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("failed to listen for SIGINT")?,
        })
    }

    /// Waits for the first of the two.
    pub(crate) async fn asked(mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

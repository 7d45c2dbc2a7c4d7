//! The signals by which a process is asked to stop.

use std::io;

/// Done when the process is asked to stop: SIGTERM or SIGINT on Unix, Ctrl-C elsewhere. A second signal ends the process at once, with exit code 1.
///
/// Source: controller-runtime `manager/signals.SetupSignalHandler`.
///
/// # Panics
/// If the operating system refuses to install a signal handler; without one the process could not be stopped gracefully.
pub async fn shutdown() {
    let mut signals =
        Signals::listen().expect("an operating system lets a process listen to its own signals");
    signals.next().await;
    tracing::info!("asked to stop; a second signal ends the process at once");
    #[expect(
        clippy::disallowed_methods,
        reason = "the last resort of a process that hangs while it stops has no owner that could join it"
    )]
    tokio::spawn(async move {
        signals.next().await;
        std::process::exit(1);
    });
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // An error means that no signal can ever come; there is nothing to wait for then but the end of the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

//! `kubewright-apiserver`: the API server as a program.

use std::{
    fs::{File, OpenOptions},
    io::{self, IsTerminal, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Parser;
use kubewright_apiserver::{ApiServer, Controllers, ListenOptions, Transport};
use tokio::signal::unix::{SignalKind, signal};

/// A Kubernetes API server in one small program. What it stores is gone when it stops.
#[derive(Debug, Parser)]
#[command(name = "kubewright-apiserver", version)]
struct Options {
    /// Where to listen; port 0 takes any free one.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    listen: SocketAddr,

    /// Where to write a kubeconfig. An existing file is replaced.
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Listen without TLS. Loopback addresses only.
    #[arg(long)]
    plain: bool,

    /// Run controllers: garbage collection, the end of namespaces, and Deployments that become available.
    #[arg(long)]
    controllers: bool,

    /// The bearer token that clients have to send. Default: a random one.
    #[arg(long, env = "KUBEWRIGHT_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    log();
    let options = Options::parse();
    // Before anything is printed, so that whoever reads the address may also stop the program.
    let mut terminate = signal(SignalKind::terminate()).context("failed to listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("failed to listen for SIGINT")?;

    let server = ApiServer::builder().build();
    let mut listen = ListenOptions::default();
    listen.address = options.listen;
    listen.token = options.token;
    if options.plain {
        listen.transport = Transport::Plain;
    }
    let listener = server.listen(listen).await?;
    let mut controllers = None;
    if options.controllers {
        controllers = Some(server.start_controllers(Controllers::default()).await);
    }
    if let Some(path) = &options.kubeconfig {
        write_private(path, &listener.kubeconfig())
            .with_context(|| format!("failed to write the kubeconfig to {}", path.display()))?;
    }
    println!("listening on {}", listener.url());

    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    listener.shutdown().await;
    if let Some(controllers) = controllers {
        controllers.shutdown().await;
    }
    Ok(())
}

/// Logs what `RUST_LOG` asks for, errors without it; coloured on a terminal, unless `NO_COLOR` is set.
fn log() {
    let coloured = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_ansi(coloured)
        .with_writer(io::stderr)
        .init();
}

/// Writes a file that nobody else may read: it holds the token.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    // Removed first, because the mode is set on new files only.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = create_private(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

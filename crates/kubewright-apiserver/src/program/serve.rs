//! The API server under its own name.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Parser, Subcommand};
use kubewright_apiserver::{ApiServer, Controllers, ListenOptions, Transport};

use crate::{assets, stop::Stop};

/// A Kubernetes API server in one small program. What it stores is gone when it stops.
#[derive(Debug, Parser)]
#[command(name = "kubewright-apiserver", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Where to listen; port 0 takes any free one.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    listen: SocketAddr,

    /// Where to write a kubeconfig. An existing file is replaced.
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Listen without TLS. Loopback addresses only.
    #[arg(long)]
    plain: bool,

    /// A further name or address for which the certificate is made. May be given more than once.
    #[arg(long = "tls-san", value_name = "NAME")]
    names: Vec<String>,

    /// Run controllers: garbage collection, the end of namespaces, and Deployments that become available.
    #[arg(long)]
    controllers: bool,

    /// The bearer token that clients have to send. Default: a random one; none with --plain, as kubectl sends no
    /// token without TLS.
    #[arg(long, env = "KUBEWRIGHT_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Assets(assets::Options),
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    let server = ApiServer::builder().build();
    let mut listen = ListenOptions::default();
    listen.address = options.listen;
    listen.token = options.token;
    listen.names = options.names;
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

    stop.asked().await;
    listener.shutdown().await;
    if let Some(controllers) = controllers {
        controllers.shutdown().await;
    }
    Ok(())
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

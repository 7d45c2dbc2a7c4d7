//! `kubewright-apiserver`: the API server as a program.
//!
//! Under the names `kube-apiserver` and `etcd` the same program takes their flags, so that test environments which start
//! those two find what they look for; `kubewright-apiserver assets` makes a folder of it.

mod assets;
mod etcd;
mod kube_apiserver;
mod serve;
mod stop;

use std::{
    ffi::OsString,
    io::{self, IsTerminal},
    path::Path,
    process::ExitCode,
};

use clap::{Parser, error::ErrorKind};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    log();
    match name().as_deref() {
        Some("kube-apiserver") => kube_apiserver::run(parse()).await,
        Some("etcd") => etcd::run(parse()).await,
        _ => match parse::<serve::Options>() {
            serve::Options { command: Some(serve::Command::Assets(options)), .. } => assets::run(&options),
            options => serve::run(options).await,
        },
    }
}

/// The name under which the program was called.
fn name() -> Option<String> {
    let called: OsString = std::env::args_os().next()?;
    Some(Path::new(&called).file_name()?.to_string_lossy().into_owned())
}

/// The flags, or the end of the program: 0 after `--help`, 1 for a flag that is wrong, as Kubernetes' programs do.
fn parse<T: Parser>() -> T {
    T::try_parse().unwrap_or_else(|error| {
        // Nothing is left to tell anybody if the terminal is gone.
        let _ = error.print();
        let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        std::process::exit(i32::from(!asked))
    })
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

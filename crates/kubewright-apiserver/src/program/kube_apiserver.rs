//! The API server under the name and with the flags of `kube-apiserver`.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};
use kubewright_apiserver::{ApiServer, ListenOptions, ServingCertificate};
use tracing::warn;

use crate::stop::Stop;

/// Stands in for kube-apiserver where a test environment starts one. What it stores is gone when it stops.
///
/// No controllers run beside it, as none do beside the original in such an environment.
#[derive(Debug, Parser)]
#[command(name = "kube-apiserver", version)]
pub(crate) struct Options {
    /// Where to listen.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::UNSPECIFIED), value_name = "ADDRESS")]
    bind_address: IpAddr,

    /// The port; 0 takes any free one.
    #[arg(long, default_value_t = 6443, value_name = "PORT")]
    secure_port: u16,

    /// A folder in which `apiserver.crt` and `apiserver.key` are looked for. A certificate is made if they are not there.
    #[arg(long, value_name = "PATH")]
    cert_dir: Option<PathBuf>,

    /// The serving certificate, in PEM; used instead of the one in `--cert-dir`.
    #[arg(long, value_name = "PATH", requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,

    /// The key of the serving certificate, in PEM.
    #[arg(long, value_name = "PATH", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,

    /// CAs of clients, in PEM. Whoever shows a certificate from one of them is an administrator.
    #[arg(long, value_name = "PATH")]
    client_ca_file: Option<PathBuf>,

    /// Who may do what. Whatever is asked for, everybody who is known may do everything; a warning is logged.
    #[arg(long, value_delimiter = ',', value_name = "MODES", default_value = "AlwaysAllow")]
    authorization_mode: Vec<Mode>,

    #[command(flatten)]
    _without_effect: WithoutEffect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
enum Mode {
    AlwaysAllow,
    Node,
    #[value(name = "RBAC")]
    Rbac,
}

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Taken from whoever starts a kube-apiserver; what they set up is not there, so they change nothing"
)]
struct WithoutEffect {
    #[arg(long, value_name = "URLS")]
    etcd_servers: Option<String>,
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    allow_privileged: Option<bool>,
    #[arg(long, value_name = "PLUGINS")]
    disable_admission_plugins: Option<String>,
    #[arg(long, value_name = "CIDR")]
    service_cluster_ip_range: Option<String>,
    #[arg(long, value_name = "URL")]
    service_account_issuer: Option<String>,
    #[arg(long, value_name = "PATH")]
    service_account_key_file: Option<PathBuf>,
    #[arg(long, value_name = "PATH")]
    service_account_signing_key_file: Option<PathBuf>,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let stop = Stop::listen()?;
    if options.authorization_mode.iter().any(|mode| *mode != Mode::AlwaysAllow) {
        warn!("--authorization-mode: nothing is enforced; everybody who is known may do everything");
    }
    let mut listen = ListenOptions::default();
    listen.address = SocketAddr::new(options.bind_address, options.secure_port);
    listen.certificate = certificate(&options)?;
    listen.client_ca =
        options.client_ca_file.as_deref().map(|path| read("--client-ca-file", path)).transpose()?;
    let listener = ApiServer::builder().build().listen(listen).await?;

    stop.asked().await;
    listener.shutdown().await;
    Ok(())
}

/// The certificate that the flags name, or the one in the folder, or `None` if there is neither.
fn certificate(options: &Options) -> anyhow::Result<Option<ServingCertificate>> {
    if let (Some(certificate), Some(key)) = (&options.tls_cert_file, &options.tls_private_key_file) {
        let chain = read("--tls-cert-file", certificate)?;
        return Ok(Some(ServingCertificate { chain, key: read("--tls-private-key-file", key)? }));
    }
    let Some(folder) = &options.cert_dir else { return Ok(None) };
    let (certificate, key) = (folder.join("apiserver.crt"), folder.join("apiserver.key"));
    match (certificate.exists(), key.exists()) {
        (true, true) => {
            let chain = read("--cert-dir", &certificate)?;
            Ok(Some(ServingCertificate { chain, key: read("--cert-dir", &key)? }))
        }
        (false, false) => Ok(None),
        _ => bail!("--cert-dir: {} holds only one of apiserver.crt and apiserver.key", folder.display()),
    }
}

fn read(flag: &str, path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{flag}: failed to read {}", path.display()))
}

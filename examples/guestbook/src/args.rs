//! The command line.

use clap::Parser;
use kubewright::{
    flags::{LogFlags, ManagerFlags, WebhookFlags},
    log::{LevelFilter, LogOptions},
};

/// Gives each Guestbook a Deployment, a Service and a ConfigMap.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Args {
    /// Starts an API server in this process, with three sample guestbooks, instead of using the kubeconfig's cluster.
    #[cfg(feature = "embedded")]
    #[arg(long, conflicts_with = "webhook_namespace")]
    pub(crate) embedded: bool,
    /// Ends when the sample guestbooks are ready; creates them where they are missing.
    #[arg(long)]
    pub(crate) once: bool,
    /// How many seconds `--once` waits before it gives up.
    #[arg(long, default_value_t = 60)]
    pub(crate) timeout: u64,
    /// Prints what the cluster has to know, for `kubectl apply -f -`, and ends.
    #[arg(long)]
    pub(crate) manifests: bool,
    /// Serves the webhooks behind the Service `guestbook` of this namespace, with certificates of its own making.
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) webhook_namespace: Option<String>,
    #[command(flatten)]
    pub(crate) manager: ManagerFlags,
    #[command(flatten)]
    pub(crate) webhook: WebhookFlags,
    #[command(flatten)]
    log: LogFlags,
}

impl Args {
    /// Whether there shall be guestbooks to start with.
    #[cfg(feature = "embedded")]
    pub(crate) fn samples(&self) -> bool {
        self.once || self.embedded
    }

    /// Whether there shall be guestbooks to start with.
    #[cfg(not(feature = "embedded"))]
    pub(crate) fn samples(&self) -> bool {
        self.once
    }

    /// The story tells what happens; logs say what goes wrong.
    pub(crate) fn log_options(&self) -> LogOptions {
        let mut quiet = LogOptions::default();
        quiet.level = LevelFilter::WARN;
        self.log.apply(quiet)
    }
}

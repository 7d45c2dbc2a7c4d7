//! Converts backups, on the cluster of your kubeconfig.

use clap::Parser;
use conversion::{definition, webhook};
use kubewright::{
    flags::{LogFlags, ManagerFlags, WebhookFlags},
    leader_election::LeaderElection,
    prelude::*,
    webhook::WebhookServerOptions,
};

/// Converts Backups between v1 and v2, behind the Service `backup-conversion`.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Prints the definition, for `kubectl apply -f -`, and ends.
    #[arg(long)]
    manifests: bool,
    /// The namespace of the Service, and of the Secret with the certificates.
    #[arg(long, default_value = "default")]
    namespace: String,
    #[command(flatten)]
    manager: ManagerFlags,
    #[command(flatten)]
    webhook: WebhookFlags,
    #[command(flatten)]
    log: LogFlags,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if args.manifests {
        let definition = definition(&webhook::address(&args.namespace))?;
        println!("{}", serde_json::to_string_pretty(&definition)?);
        return Ok(());
    }
    args.log.init();
    let election = LeaderElection::new("backup-conversion.example.com");
    let manager = args.manager.apply(Manager::builder(), election).await?.build().await?;
    let certificates = webhook::certificates(manager.kube().clone(), &args.namespace);
    let options = args.webhook.apply(&args.manager, WebhookServerOptions::default());
    let server = webhook::server(options, certificates)?;
    manager.add_readyz_check("webhook", server.clone());
    manager.add(server)?;
    manager.start(signals::shutdown()).await?;
    Ok(())
}

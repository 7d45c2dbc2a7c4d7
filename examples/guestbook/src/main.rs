//! The guestbook operator: on the cluster of your kubeconfig, or on an API server of its own.

use std::{process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::Parser;
use guestbook::{Guestbook, Story, embedded::Embedded, samples};
use kube::CustomResourceExt as _;
use kubewright::{
    client::ClientError,
    flags::{LogFlags, ManagerFlags},
    leader_election::LeaderElection,
    log::{LevelFilter, LogOptions},
    prelude::*,
    webhook::WebhookServer,
};
use tokio::time::{Instant, timeout};

/// Gives each Guestbook a Deployment, a Service and a ConfigMap.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Starts an API server in this process, with three sample guestbooks, instead of using the kubeconfig's cluster.
    #[arg(long)]
    embedded: bool,
    /// Ends when the sample guestbooks are ready; creates them where they are missing.
    #[arg(long)]
    once: bool,
    /// How many seconds `--once` waits before it gives up.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Prints the custom resource definition, for `kubectl apply -f -`, and ends.
    #[arg(long)]
    crd: bool,
    #[command(flatten)]
    manager: ManagerFlags,
    #[command(flatten)]
    log: LogFlags,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if args.crd {
        println!("{}", serde_json::to_string_pretty(&Guestbook::crd())?);
        return Ok(ExitCode::SUCCESS);
    }
    // The story tells what happens; logs say what goes wrong.
    let mut quiet = LogOptions::default();
    quiet.level = LevelFilter::WARN;
    kubewright::log::init_with(&args.log.apply(quiet));
    let (embedded, manager) = connect(&args).await?;

    let story = Story::printed();
    guestbook::add_to_manager(&manager, story.clone())?;
    if let Some(embedded) = &embedded {
        create_unless_there(&manager, &Guestbook::crd()).await?;
        let webhooks = WebhookServer::default();
        guestbook::webhooks::register(&webhooks)?;
        embedded.install(&webhooks).await?;
    }
    if args.embedded || args.once {
        for sample in samples::all() {
            create_unless_there(&manager, &sample)
                .await
                .context("hint: install the definition first, with --crd")?;
        }
    }

    let mut code = ExitCode::SUCCESS;
    let until = async {
        if !args.once {
            return signals::shutdown().await;
        }
        code = tokio::select! {
            () = signals::shutdown() => ExitCode::FAILURE,
            ready = ready_in_time(&story, Duration::from_secs(args.timeout)) => ready,
        };
    };
    manager.start(until).await?;
    drop(embedded);
    Ok(code)
}

/// A manager for the cluster, and the embedded server if that is the cluster.
async fn connect(args: &Args) -> anyhow::Result<(Option<Embedded>, Manager)> {
    let election = LeaderElection::new("guestbook.example.com");
    let builder = args.manager.apply(Manager::builder().field_manager("guestbook"), election).await?;
    if !args.embedded {
        return Ok((None, builder.build().await?));
    }
    let embedded = Embedded::start().await?;
    println!("guestbook operator, on an API server of its own at {}", embedded.url());
    println!("  export KUBECONFIG={}\n", embedded.kubeconfig().display());
    let manager = builder.kube_client(embedded.client()).build().await?;
    Ok((Some(embedded), manager))
}

async fn create_unless_there<K>(manager: &Manager, object: &K) -> Result<(), ClientError>
where
    K: kubewright::object::Object + serde::Serialize,
{
    match manager.client().create(object).await {
        Err(error) if error.is_already_exists() => Ok(()),
        result => result.map(|_| ()),
    }
}

async fn ready_in_time(story: &Story, limit: Duration) -> ExitCode {
    let start = Instant::now();
    let samples = samples::requests();
    if timeout(limit, story.all_ready(&samples)).await.is_ok() {
        println!("\nall {} guestbooks are ready after {:.1?}", samples.len(), start.elapsed());
        return ExitCode::SUCCESS;
    }
    eprintln!("\nnot ready within {limit:?}: {}", story.unready(&samples).join(", "));
    ExitCode::FAILURE
}

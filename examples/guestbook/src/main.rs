//! The guestbook operator: on the cluster of your kubeconfig, or on an API server of its own.

mod args;

use std::{process::ExitCode, time::Duration};

use clap::Parser;
use guestbook::{Story, manifests, samples, webhooks};
use kubewright::{leader_election::LeaderElection, prelude::*, webhook::WebhookServerOptions};
use tokio::time::{Instant, timeout};

use crate::args::Args;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if args.manifests {
        println!("{:#}", manifests::list(args.webhook_namespace.as_deref())?);
        return Ok(ExitCode::SUCCESS);
    }
    kubewright::log::init_with(&args.log_options());
    let election = LeaderElection::new("guestbook.example.com");
    let builder = args.manager.apply(Manager::builder().field_manager("guestbook"), election).await?;
    #[cfg(feature = "embedded")]
    let (_running, builder) = guestbook::embedded::start_if(args.embedded, builder).await?;

    let manager = builder.build().await?;
    let story = Story::printed();
    guestbook::add_to_manager(&manager, story.clone())?;
    manager.add_readyz_check("informers", manager.cache().clone());
    if let Some(namespace) = &args.webhook_namespace {
        let options = args.webhook.apply(&args.manager, WebhookServerOptions::default());
        let server = webhooks::server(options, manager.kube().clone(), namespace)?;
        manager.add_readyz_check("webhooks", server.clone());
        manager.add(server)?;
    }
    if args.samples() {
        samples::create(&manager.client()).await?;
    }
    if !args.once {
        manager.start(signals::shutdown()).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut code = ExitCode::FAILURE;
    let until_ready = async {
        tokio::select! {
            () = signals::shutdown() => {}
            ready = ready_in_time(&story, Duration::from_secs(args.timeout)) => code = ready,
        }
    };
    manager.start(until_ready).await?;
    Ok(code)
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

//! `differential`: tells the same stories to our API server and to the original, and prints where they part.

mod kinds;
mod normal;
mod script;
mod shrink;
mod side;
mod step;
mod verdict;

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::Parser;
use futures::{StreamExt, stream};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::ApiServer;

use crate::{script::draw, shrink::shrink, verdict::Servers};

/// Compares our API server with the original: the same requests to both, and every answer that differs.
#[derive(Debug, Parser)]
struct Options {
    /// A kubeconfig of the original, with the rights of an administrator.
    #[arg(long, env = "KUBECONFIG", value_name = "PATH")]
    kubeconfig: PathBuf,
    /// How many requests are compared, at least.
    #[arg(long, default_value_t = 2000)]
    requests: usize,
    /// The seed of the stories.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many requests a story has.
    #[arg(long, default_value_t = 20)]
    length: usize,
    /// How many sorts of differences are printed before the run ends.
    #[arg(long, default_value_t = 20)]
    differences: usize,
    /// Tells only this story of the seed.
    #[arg(long, value_name = "NUMBER")]
    story: Option<u64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let server = ApiServer::builder().build();
    let servers =
        Servers { ours: Client::new(server.service(), "default"), theirs: original(&options).await? };

    let built_in = kinds::built_in()?;
    let numbers = match options.story {
        Some(number) => number..number + 1,
        None => 0..u64::MAX,
    };
    let mut stories = stream::iter(numbers)
        .map(|number| {
            let script = draw(&built_in, options.seed, number, options.length);
            let servers = servers.clone();
            async move { (number, servers.judge(&script).await, script) }
        })
        .buffered(SIDE_BY_SIDE);
    let (mut passed, mut known, mut sorts) = (0, BTreeMap::new(), BTreeMap::new());
    while let Some((number, verdict, script)) = stories.next().await {
        let verdict = verdict.with_context(|| format!("story {number} of seed {}", options.seed))?;
        passed += verdict.compared;
        if let Some(difference) = verdict.difference {
            passed -= 1;
            if let Some(need) = difference.known {
                *known.entry(need).or_insert(0) += 1;
            } else {
                let count = sorts.entry(difference.sort(&script)).or_insert(0);
                *count += 1;
                if *count == 1 {
                    let (script, difference) = shrink(&servers, &script, difference).await;
                    println!("story {number} of seed {}:", options.seed);
                    script.steps.iter().for_each(|step| println!("  {step}"));
                    difference.places.iter().take(12).for_each(|place| println!("    ! {place}"));
                }
            }
        }
        if passed >= options.requests || sorts.len() >= options.differences {
            break;
        }
    }
    let failed = sorts.values().sum::<usize>();
    for (sort, count) in sorts.iter().filter(|(_, count)| **count > 1) {
        println!("{count} times: {sort}");
    }
    for (need, count) in &known {
        println!("{need}: {count}");
    }
    println!("{passed} passed, {failed} failed, {} known", known.values().sum::<usize>());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn original(options: &Options) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::read_from(&options.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

const SIDE_BY_SIDE: usize = 8;

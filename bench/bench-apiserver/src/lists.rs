//! Lists of many ConfigMaps: as a whole, as a table, page by page, and what they take in memory.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench_common::{goals::Goal, usage::Memory};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{ApiServer, ApiService, Body};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower_service::Service;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
/// Runs of each list; the fastest counts, since whatever else runs can only make one slower.
const RUNS: u32 = 3;
const PAGES: u32 = 250;

/// Fills a server of its own with `objects` ConfigMaps of a kilobyte, prints what lists cost, and judges the ratios.
pub(crate) async fn measure(objects: u32) -> Result<Vec<Goal>> {
    let server = ApiServer::builder().build();
    let mut service = server.service();
    let before = Memory::now()?;
    for number in 0..objects {
        let body = Full::new(Bytes::from(config_map(number).to_string()));
        let response = service.call(Request::post(CONFIG_MAPS).body(body)?).await?;
        if !response.status().is_success() {
            bail!("failed to create a ConfigMap: {response:?}");
        }
    }
    let filled = Memory::now()?;
    let megabytes = |bytes: u64| bytes / (1 << 20);
    println!(
        "{objects} ConfigMaps           {} MiB",
        megabytes(filled.rss_bytes.saturating_sub(before.rss_bytes))
    );

    let plain = fastest(&mut service, "application/json").await?;
    println!("plain list                  {plain:>9.1?}");
    let table = fastest(&mut service, TABLE).await?;
    println!("table                       {table:>9.1?}, {:.1} times the plain list", ratio_of(table, plain));
    let peak = Memory::now()?.peak_bytes.saturating_sub(filled.peak_bytes);
    println!("most memory more for lists  {} MiB", megabytes(peak));
    let skimmed = skimmed(&mut service).await?;
    let ratio = ratio_of(table, skimmed);
    println!("the list's JSON skimmed     {skimmed:>9.1?}; the table takes {ratio:.1} times as long");

    let limit = objects.div_ceil(PAGES * 2).max(1);
    let (all, count) = pages(&mut service, &format!("limit={}", limit * 2)).await?;
    println!("{count} pages                   {all:>9.1?}, {:.1} times the plain list", ratio_of(all, plain));
    let (selected, count) = pages(&mut service, &format!("limit={limit}&labelSelector=half%3Dyes")).await?;
    println!(
        "{count} pages with a selector   {selected:>9.1?}, {:.1} times the plain list",
        ratio_of(selected, plain)
    );
    Ok(vec![Goal::at_most("table, times the skimming of the list", Some(ratio), 3.0)])
}

fn ratio_of(duration: Duration, base: Duration) -> f64 {
    duration.as_secs_f64() / base.as_secs_f64()
}

async fn fastest(service: &mut ApiService, accept: &str) -> Result<Duration> {
    let mut fastest = Duration::MAX;
    for _ in 0..RUNS {
        let started = Instant::now();
        let request = Request::get(CONFIG_MAPS).header("accept", accept).body(Full::<Bytes>::default())?;
        let mut body = service.call(request).await?.into_body();
        while let Some(frame) = body.frame().await {
            frame?;
        }
        fastest = fastest.min(started.elapsed());
    }
    Ok(fastest)
}

/// What it takes to look through the JSON of the plain list and to keep nothing of it. The list itself is copied bytes, at the speed of the
/// memory; a table has to look into each object, so this is its floor.
async fn skimmed(service: &mut ApiService) -> Result<Duration> {
    let list =
        collect(service.call(Request::get(CONFIG_MAPS).body(Full::<Bytes>::default())?).await?).await?;
    let mut fastest = Duration::MAX;
    for _ in 0..RUNS {
        let started = Instant::now();
        serde_json::from_slice::<IgnoredAny>(&list).context("failed to read the list")?;
        fastest = fastest.min(started.elapsed());
    }
    Ok(fastest)
}

/// Reads everything page by page, and counts the pages.
async fn pages(service: &mut ApiService, query: &str) -> Result<(Duration, u32)> {
    let (mut token, mut count, mut spent) = (String::new(), 0, Duration::ZERO);
    loop {
        let path = format!("{CONFIG_MAPS}?{query}&continue={token}");
        let request = Request::get(path).body(Full::<Bytes>::default())?;
        let started = Instant::now();
        let page = collect(service.call(request).await?).await?;
        spent += started.elapsed();
        count += 1;
        let page: Value = serde_json::from_slice(&page).context("failed to read a page")?;
        match page["metadata"]["continue"].as_str() {
            Some(next) if !next.is_empty() => next.clone_into(&mut token),
            _ => return Ok((spent, count)),
        }
    }
}

async fn collect(response: Response<Body>) -> Result<Bytes> {
    Ok(response.into_body().collect().await?.to_bytes())
}

fn config_map(number: u32) -> Value {
    let half = if number.is_multiple_of(2) { "yes" } else { "no" };
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("c-{number:06}"), "labels": {"app": format!("app-{}", number % 500), "half": half}},
        "data": {"settings": format!("{number} {}", "x".repeat(800))},
    })
}

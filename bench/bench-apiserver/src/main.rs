//! What the API server costs: its start, creations at the first door, lists and pages of many
//! ConfigMaps, and a streaming list of many pods at both doors.

mod lists;

use std::time::Duration;

use bench_common::goals::{Goal, Goals};
use bytes::Bytes;
use clap::Parser;
use http::Request;
use http_body_util::{BodyExt, Full};
use kube::{Api, Client, api::PostParams};
use kubewright_apiserver::{ApiServer, ListenOptions, Transport};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};
use tower_service::Service;

const STREAMING_LIST: &str = "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=600";
/// How many times the floor a creation may take.
const OVER_THE_FLOOR: f64 = 4.0;
const INITIAL_END: &[u8] = b"k8s.io/initial-events-end";

/// Measures the API server in this process, and over plain HTTP on loopback.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// How many pods are created and listed.
    #[arg(long, default_value_t = 20_000)]
    objects: u32,
    /// How many ConfigMaps are listed as a whole, as a table and page by page.
    #[arg(long, default_value_t = 125_000)]
    config_maps: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { objects: pods, config_maps: listed } = Options::parse();
    let started = Instant::now();
    let server = ApiServer::builder().build();
    let mut service = server.service();
    service.call(Request::get("/readyz").body(Full::<Bytes>::default())?).await?;
    let start = started.elapsed();
    println!("start to first answer       {start:>9.1?}");

    let client = Client::new(server.service(), "default");
    let config_maps: Api<kube::api::DynamicObject> = {
        let resource = kube::api::ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&());
        Api::default_namespaced_with(client, &resource)
    };
    let rounds = 5_000;
    let started = Instant::now();
    for round in 0..rounds {
        let value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("c{round}")}, "data": {"a": "b"}});
        config_maps.create(&PostParams::default(), &serde_json::from_value(value)?).await?;
    }
    let create = started.elapsed() / rounds;
    println!("create, kube client         {create:>9.1?} each");

    let started = Instant::now();
    let mut size = 0;
    for number in 0..pods {
        let body = pod(number).to_string();
        size = body.len();
        let request = Request::post("/api/v1/namespaces/default/pods").body(Full::new(Bytes::from(body)))?;
        let response = service.call(request).await?;
        assert!(response.status().is_success(), "{response:?}");
    }
    let create_pod = started.elapsed() / pods;
    println!("create, {size} bytes of pod    {create_pod:>9.1?} each");
    let (making, floor) = floor(pods)?;
    println!("its JSON read and written   {floor:>9.1?} each");

    let started = Instant::now();
    let request = Request::get(STREAMING_LIST).body(Full::<Bytes>::default())?;
    let mut body = service.call(request).await?.into_body();
    let (mut bytes, mut frames) = (0, 0_u32);
    while let Some(frame) = body.frame().await {
        let data = frame?.into_data().map_err(|_| anyhow::anyhow!("a frame without data"))?;
        bytes += data.len();
        frames += 1;
        if contains_end(&data) {
            break;
        }
    }
    report("streaming list, in process", started.elapsed(), pods, bytes);
    println!("                            {frames} frames of {} kB", bytes / frames as usize / 1024);

    let mut options = ListenOptions::default();
    options.transport = Transport::Plain;
    let listener = server.listen(options).await?;
    let started = Instant::now();
    let mut stream = TcpStream::connect(listener.address()).await?;
    let head = format!(
        "GET {STREAMING_LIST} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        listener.token()
    );
    stream.write_all(head.as_bytes()).await?;
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let read = stream.read(&mut buffer).await?;
        bytes += read;
        if read == 0 || contains_end(&buffer[..read]) {
            break;
        }
    }
    report("streaming list, plain http", started.elapsed(), pods, bytes);
    drop(stream);
    listener.shutdown().await;

    let mut goals = lists::measure(listed).await?;
    // A ratio: what a microsecond is worth depends on the day.
    let over_floor = create_pod.saturating_sub(making).as_secs_f64() / floor.as_secs_f64();
    goals.push(Goal::at_most(
        "create of a pod over its JSON read and written",
        Some(over_floor),
        OVER_THE_FLOOR,
    ));
    let goals: Goals = goals.into_iter().collect();
    println!("\n{goals}");
    Ok(())
}

/// What it takes to make a pod's text, which the creations include, and the least that a creation has to do with it: to read the object and to
/// write it, once.
fn floor(pods: u32) -> anyhow::Result<(Duration, Duration)> {
    let (mut making, mut json) = (Duration::ZERO, Duration::ZERO);
    for number in 0..pods {
        let started = Instant::now();
        let text = pod(number).to_string();
        let made = Instant::now();
        let pod: Value = serde_json::from_slice(text.as_bytes())?;
        std::hint::black_box(serde_json::to_vec(&pod)?);
        making += made - started;
        json += made.elapsed();
    }
    Ok((making / pods, json / pods))
}

fn report(what: &str, elapsed: Duration, pods: u32, bytes: usize) {
    let megabytes = bytes / 1_000_000;
    println!("{what}  {elapsed:>9.1?}, {:.1?} each, {megabytes} MB", elapsed / pods);
}

fn contains_end(data: &[u8]) -> bool {
    let tail = &data[data.len().saturating_sub(512)..];
    tail.windows(INITIAL_END.len()).any(|window| window == INITIAL_END)
}

/// A pod of about ten kilobytes, most of it in containers.
fn pod(number: u32) -> Value {
    let container = |index: u32| {
        let variables: Vec<Value> = (0..30)
            .map(|variable| json!({"name": format!("VARIABLE_{variable}"), "value": format!("value-{number}-{index}-{variable}-xxxxxxxxxxxxxxxxxxxxxxxx")}))
            .collect();
        json!({"name": format!("container-{index}"), "image": format!("registry.example.com/team/app:{number}"), "env": variables})
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("pod-{number:06}"), "labels": {"app": format!("app-{}", number % 500)}},
        "spec": {"containers": (0..4).map(container).collect::<Vec<_>>()},
    })
}

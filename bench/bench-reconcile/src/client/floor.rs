//! A client that reads every event and drops it.

use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use http::{Request, header};
use http_body_util::BodyExt;
use kube::client::Body;

use super::Reconciles;

/// Counts every event as a reconcile. The line after the first `objects` is a bookmark and is none.
pub(super) async fn run(connection: kube::Client, objects: usize, reconciles: Arc<Reconciles>) -> Result<()> {
    let request =
        Request::get(STREAMING_LIST).header(header::ACCEPT, "application/json").body(Body::empty())?;
    let answer = connection.send(request).await?;
    ensure!(answer.status().is_success(), "the server answered {}", answer.status());
    let (mut body, mut lines) = (answer.into_body(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        for _ in memchr::memchr_iter(b'\n', &data) {
            lines += 1;
            if lines != objects + 1 {
                reconciles.count();
            }
        }
    }
    bail!("the watch ended")
}

const STREAMING_LIST: &str = "/api/v1/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

//! kubewright's queue.

use std::time::Duration;

use anyhow::Context;
use kubewright::workqueue::{ItemExponentialFailureRateLimiter, Queue, QueueOptions};
use tokio::runtime::Runtime;

use crate::round::{self, Key, Load, Row};

/// Measures a queue; with a metrics name also what measuring costs.
pub(crate) fn measure<K: Key>(
    queue: &'static str,
    load: Load,
    metrics_name: &str,
    keys: fn(usize) -> Vec<K>,
) -> anyhow::Result<Row> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let keys = keys(load.keys);
    let rows: Vec<Row> =
        (0..load.rounds()).map(|_| round(queue, load, metrics_name, &keys, &runtime)).collect();
    Row::best(&rows).context("there was no round")
}

fn round<K: Key>(name: &'static str, load: Load, metrics_name: &str, keys: &[K], runtime: &Runtime) -> Row {
    let before = round::live_bytes();
    let queue = Queue::new(QueueOptions::new(metrics_name));
    let consume = || runtime.block_on(consume(&queue, load.keys));
    let add = |key| queue.add(key);

    let row = round::twice(name, load, keys, before, add, consume);
    Row { together: Some(round::fill_while(load, keys, add, consume)), ..row }
}

/// Live bytes that a queue holds after `count` distinct keys have come, failed once, succeeded and gone.
pub(crate) fn bytes_after_churn(count: u64) -> anyhow::Result<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let before = round::live_bytes();
    let retry_at_once = ItemExponentialFailureRateLimiter::new(Duration::ZERO, Duration::ZERO);
    let queue = Queue::new(QueueOptions::default().rate_limiter(retry_at_once));
    runtime.block_on(async {
        for key in 0..count {
            queue.add(key);
            queue.get().await;
            queue.add_rate_limited(key);
            queue.done(&key);
            queue.get().await;
            queue.forget(&key);
            queue.done(&key);
        }
    });
    Ok(round::live_bytes().saturating_sub(before))
}

async fn consume<K: Key>(queue: &Queue<K>, count: usize) {
    for _ in 0..count {
        let Some((key, _)) = queue.get().await else { return };
        queue.forget(&key);
        queue.done(&key);
    }
}

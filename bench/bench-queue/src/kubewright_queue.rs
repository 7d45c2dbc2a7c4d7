//! kubewright's queue.

use anyhow::Context;
use kubewright::workqueue::{Queue, QueueOptions};
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
    let shares = load.shares(keys);
    let add = round::produce(load, shares, |key| queue.add(key), || ());
    let bytes = round::bytes_per_key(load, before);
    let (get_forget_done, ()) = round::time_per_key(load, || runtime.block_on(consume(&queue, load.keys)));

    let shares = load.shares(keys);
    let meanwhile = || runtime.block_on(consume(&queue, load.keys));
    let together = round::produce(load, shares, |key| queue.add(key), meanwhile);
    Row { queue: name, load, add, get_forget_done, together: Some(together), bytes }
}

async fn consume<K: Key>(queue: &Queue<K>, count: usize) {
    for _ in 0..count {
        let Some((key, _)) = queue.get().await else { return };
        queue.forget(&key);
        queue.done(&key);
    }
}

//! The least that any queue between threads does: a list of keys and times under a lock.
//!
//! It neither merges equal keys, nor knows priorities, delays and keys that are being processed. What the others take beyond it
//! is the price of that.

use std::collections::VecDeque;

use anyhow::Context;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::round::{self, Key, Load, Row};

pub(crate) fn measure<K: Key>(
    queue: &'static str,
    load: Load,
    keys: fn(usize) -> Vec<K>,
) -> anyhow::Result<Row> {
    let keys = keys(load.keys);
    let rows: Vec<Row> = (0..load.rounds()).map(|_| round(queue, load, &keys)).collect();
    Row::best(&rows).context("there was no round")
}

fn round<K: Key>(name: &'static str, load: Load, keys: &[K]) -> Row {
    let before = round::live_bytes();
    let list = Mutex::new(VecDeque::new());
    let add = |key| {
        let now = Instant::now();
        list.lock().push_back((key, now));
    };
    let get = || list.lock().pop_front();
    let consume = || while get().is_some() {};

    round::twice(name, load, keys, before, add, consume)
}

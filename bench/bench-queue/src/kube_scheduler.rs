//! The scheduler behind kube-rs' `Controller`.
//!
//! It has no lock: producers send into a channel, and whoever polls the scheduler moves the requests into it. So an add is the
//! sending and this move, and a get is a poll with the table of running keys that `Controller` keeps around it. There is no
//! backoff, so nothing to forget.

use std::collections::HashSet;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use anyhow::Context;
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::task::noop_waker;
use kube::runtime::scheduler;
use kube::runtime::scheduler::{ScheduleRequest, Scheduler};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::round::{self, Key, Load, Row};

pub(crate) fn measure<K: Key>(
    queue: &'static str,
    load: Load,
    keys: fn(usize) -> Vec<K>,
) -> anyhow::Result<Row> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let keys = keys(load.keys);
    let rows: Vec<Row> = (0..load.rounds()).map(|_| round(queue, load, &keys, &runtime)).collect();
    Row::best(&rows).context("there was no round")
}

fn round<K: Key>(name: &'static str, load: Load, keys: &[K], runtime: &Runtime) -> Row {
    let _guard = runtime.enter();
    let before = round::live_bytes();
    let (sender, requests) = unbounded();
    let mut scheduler = Box::pin(scheduler(requests));
    let send = |message| {
        // The receiver lives as long as the scheduler, which outlives the producers.
        let _ = sender.unbounded_send(ScheduleRequest { message, run_at: Instant::now() });
    };
    let mut fill = || {
        let send_time = round::fill(load, keys, send);
        let (move_time, first) = round::time_per_key(load, || take_requests(scheduler.as_mut()));
        let bytes = round::bytes_per_key(load, before);
        let remaining = load.keys - usize::from(first);
        let (get, ()) =
            round::time_per_key(load, || runtime.block_on(consume(scheduler.as_mut(), remaining)));
        (send_time + move_time, get, bytes)
    };
    let (first_add, first_get, bytes) = fill();
    let (add, get, _) = fill();
    Row { queue: name, load, first_add, add, get_forget_done: first_get.min(get), together: None, bytes }
}

/// Lets the scheduler take over what was sent. The key that it may hand out at once is dropped.
fn take_requests<K: Key>(scheduler: Pin<&mut Scheduler<K, UnboundedReceiver<ScheduleRequest<K>>>>) -> bool {
    let waker = noop_waker();
    let mut hold = scheduler.hold_unless(|_| true);
    matches!(hold.poll_next_unpin(&mut TaskContext::from_waker(&waker)), Poll::Ready(Some(_)))
}

async fn consume<K: Key>(
    mut scheduler: Pin<&mut Scheduler<K, UnboundedReceiver<ScheduleRequest<K>>>>,
    count: usize,
) {
    let mut running = HashSet::new();
    for _ in 0..count {
        let next = futures::future::poll_fn(|context| {
            scheduler.as_mut().hold_unless(|key| !running.contains(key)).poll_next_unpin(context)
        });
        let Some(key) = next.await else { return };
        running.insert(key.clone());
        running.remove(&key);
    }
}

//! What one round measures, and how rounds become a figure.

use std::hash::Hash;
use std::sync::Barrier;
use std::time::Duration;

use tokio::time::Instant;

use crate::ALLOCATOR;

/// How much work a round does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) keys: usize,
    pub(crate) producers: usize,
}

/// The figures of one queue under one load, per key.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) queue: &'static str,
    pub(crate) load: Load,
    /// Filling the queue for the first time, on memory that it still has to get.
    pub(crate) first_add: f64,
    /// Filling it for the second time.
    pub(crate) add: f64,
    pub(crate) get_forget_done: f64,
    /// Adding and getting at the same time; `None` where the queue has no such mode.
    pub(crate) together: Option<f64>,
    pub(crate) bytes: f64,
}

/// What any key must be.
pub(crate) trait Key: Clone + Eq + Hash + Send + Sync + std::fmt::Debug + 'static {}
impl<K: Clone + Eq + Hash + Send + Sync + std::fmt::Debug + 'static> Key for K {}

impl Load {
    /// How many rounds every queue gets in each pass. With a million keys a round of the slowest takes a quarter of a minute.
    pub(crate) fn rounds(self) -> usize {
        match self.keys {
            0..100_000 => 4,
            100_000..1_000_000 => 3,
            _ => 1,
        }
    }

    /// The keys that each producer adds.
    fn shares<K: Clone>(self, keys: &[K]) -> Vec<Vec<K>> {
        let share = |producer| keys.iter().skip(producer).step_by(self.producers).cloned().collect();
        (0..self.producers).map(share).collect()
    }
}

impl Row {
    /// Takes each row at its best. All passes have the same rows in the same order.
    pub(crate) fn best_of_each(passes: &[Vec<Self>]) -> Vec<Self> {
        let rows = passes.iter().map(Vec::len).min().unwrap_or(0);
        let best = |index: usize| {
            let row: Vec<Self> = passes.iter().map(|pass| pass[index].clone()).collect();
            Self::best(&row)
        };
        (0..rows).filter_map(best).collect()
    }

    /// The best of each column: what the queue takes where nothing else disturbs it.
    pub(crate) fn best(rows: &[Self]) -> Option<Self> {
        let first = rows.first()?;
        let column = |value: fn(&Self) -> f64| rows.iter().map(value).fold(f64::INFINITY, f64::min);
        Some(Self {
            queue: first.queue,
            load: first.load,
            first_add: column(|row| row.first_add),
            add: column(|row| row.add),
            get_forget_done: column(|row| row.get_forget_done),
            together: first.together.map(|_| column(|row| row.together.unwrap_or(f64::INFINITY))),
            bytes: column(|row| row.bytes),
        })
    }
}

/// Lets the producers add all keys, and returns nanoseconds per key. A single one does so on this thread.
pub(crate) fn fill<K: Key>(load: Load, keys: &[K], add: impl Fn(K) + Sync) -> f64 {
    if load.producers > 1 {
        return fill_while(load, keys, add, || ());
    }
    let keys = keys.to_vec();
    time_per_key(load, || keys.into_iter().for_each(add)).0
}

/// Lets each producer add its share on a thread of its own, while `meanwhile` runs here, and returns nanoseconds per key: from the
/// moment when the first thread starts to add until everything is done.
pub(crate) fn fill_while<K: Key>(
    load: Load,
    keys: &[K],
    add: impl Fn(K) + Sync,
    meanwhile: impl FnOnce(),
) -> f64 {
    let shares = load.shares(keys);
    let ready = Barrier::new(shares.len() + 1);
    let (add, ready) = (&add, &ready);
    let starts = std::thread::scope(|scope| {
        let start = |share: Vec<K>| {
            scope.spawn(move || {
                ready.wait();
                let start = Instant::now();
                share.into_iter().for_each(add);
                start
            })
        };
        let producers: Vec<_> = shares.into_iter().map(start).collect();
        ready.wait();
        meanwhile();
        producers.into_iter().filter_map(|producer| producer.join().ok()).min()
    });
    starts.map_or(f64::NAN, |start| per_key(load, start.elapsed()))
}

/// Fills a queue and empties it, twice. `before` are the live bytes without the queue.
pub(crate) fn twice<K: Key>(
    queue: &'static str,
    load: Load,
    keys: &[K],
    before: usize,
    add: impl Fn(K) + Sync,
    consume: impl Fn(),
) -> Row {
    let first_add = fill(load, keys, &add);
    let bytes = bytes_per_key(load, before);
    let (first_get, ()) = time_per_key(load, &consume);
    let second_add = fill(load, keys, &add);
    let (second_get, ()) = time_per_key(load, &consume);
    Row {
        queue,
        load,
        first_add,
        add: second_add,
        get_forget_done: first_get.min(second_get),
        together: None,
        bytes,
    }
}

/// Nanoseconds per key that `work` took.
pub(crate) fn time_per_key<T>(load: Load, work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (per_key(load, start.elapsed()), result)
}

pub(crate) fn per_key(load: Load, elapsed: Duration) -> f64 {
    elapsed.as_secs_f64() * 1e9 / as_float(load.keys)
}

/// Live bytes per key that came since `before`.
pub(crate) fn bytes_per_key(load: Load, before: usize) -> f64 {
    as_float(live_bytes().saturating_sub(before)) / as_float(load.keys)
}

pub(crate) fn live_bytes() -> usize {
    ALLOCATOR.allocated()
}

fn as_float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

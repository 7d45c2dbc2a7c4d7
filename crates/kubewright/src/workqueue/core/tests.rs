//! The core against its model, and what only the core can show: memory and order of its own.

use super::model::Model;
use super::*;
use crate::workqueue::ItemExponentialFailureRateLimiter;

const BASE: Duration = Duration::from_millis(5);
const MAX: Duration = Duration::from_secs(1);

/// A core and its model, side by side.
struct Pair {
    hasher: KeyHasher,
    core: Core<u64>,
    model: Model,
    epoch: Instant,
    now: Duration,
}

impl Pair {
    fn new(overdue_after: Option<Duration>) -> Self {
        let epoch = Instant::now();
        let core = Core::new(CoreOptions {
            limiter: Box::new(ItemExponentialFailureRateLimiter::new(BASE, MAX)),
            overdue_after,
            recorder: Some(Recorder::default()),
            epoch,
        });
        let model = Model::new(overdue_after, BASE, MAX);
        Self { hasher: KeyHasher::default(), core, model, epoch, now: Duration::ZERO }
    }

    fn instant(&self) -> Instant {
        self.epoch + self.now
    }

    fn add(&mut self, key: u64, options: AddOptions) {
        let hash = self.hasher.hash(&key);
        self.core.add(key, hash, options, self.instant());
        self.model.add(key, options, self.now);
    }

    /// Adds keys that lay in the inbox together.
    fn add_arrivals(&mut self, keys: impl Iterator<Item = (u64, i32)>) {
        let now = self.instant();
        let mut arrivals = Vec::new();
        for (key, priority) in keys {
            arrivals.push(Arrival { key, hash: self.hasher.hash(&key), priority, now });
            self.model.add(key, AddOptions::new().priority(priority), self.now);
        }
        self.core.add_arrivals(&mut arrivals);
        assert!(arrivals.is_empty());
    }

    fn take(&mut self) {
        let now = self.instant();
        assert_eq!(self.core.take(|| now), self.model.take(self.now), "the next hand-out");
    }

    fn done(&mut self, key: u64) {
        let (hash, now) = (self.hasher.hash(&key), self.instant());
        self.core.done(&key, || hash, || now);
        self.model.done(key);
    }

    fn step(&mut self, random: &mut fastrand::Rng, keys: u64) {
        let key = random.u64(..keys);
        match random.u8(..100) {
            0..35 => self.add(key, options(random)),
            35..40 => {
                let count = random.usize(..40);
                let arrivals: Vec<_> = (0..count).map(|_| (random.u64(..keys), random.i32(-2..=2))).collect();
                self.add_arrivals(arrivals.into_iter());
            }
            40..65 => self.take(),
            65..85 => {
                let running: Vec<u64> = self.model.running().collect();
                // Now and then a key that nobody is processing, which must do no harm.
                self.done(if random.u8(..8) == 0 { key } else { random.choice(running).unwrap_or(key) });
            }
            85..90 => {
                self.core.forget(&key);
                self.model.forget(key);
            }
            _ => self.now += Duration::from_millis(random.u64(..40)),
        }
        self.compare(key);
    }

    fn compare(&mut self, key: u64) {
        let now = self.instant();
        assert_eq!(self.core.len(now), self.model.len(self.now), "length");
        let next_due = self.core.next_due().map(|due| due - self.epoch);
        assert_eq!(next_due, self.model.next_due(), "next due");
        assert_eq!(self.core.num_requeues(&key), self.model.num_requeues(key), "failures of {key}");
        assert_eq!(self.core.is_drained(), self.model.is_drained(), "drained");
        let stats = self.core.stats(now).unwrap();
        assert_eq!((stats.adds, stats.retries), (self.model.adds, self.model.retries), "adds and retries");
        for (priority, depth) in stats.depth {
            assert_eq!(depth, self.model.depth_at(priority), "depth at {priority}");
        }
    }

    /// Hands out and ends everything, so that nothing may remain.
    fn drain(&mut self) {
        self.core.start_draining();
        self.model.start_draining();
        loop {
            let running: Vec<u64> = self.model.running().collect();
            for key in running {
                self.done(key);
            }
            if self.core.is_shut_down() {
                break;
            }
            self.take();
        }
        assert!(self.core.is_drained() && self.model.is_drained());
        assert!(self.core.entries.is_empty(), "an entry was left behind");
    }
}

fn options(random: &mut fastrand::Rng) -> AddOptions {
    let mut options = AddOptions::new().priority(random.i32(-2..=2));
    if random.u8(..3) == 0 {
        options = options.after(Duration::from_millis(random.u64(..60)));
    }
    if random.u8(..3) == 0 {
        options = options.rate_limited();
    }
    options
}

/// Short episodes, so that a failing one is short enough to be followed.
fn core_does_what_the_model_does(episodes: std::ops::Range<u64>, steps: u64) {
    for seed in episodes {
        let mut random = fastrand::Rng::with_seed(seed);
        let overdue_after = random.bool().then(|| Duration::from_millis(random.u64(1..200)));
        let most_keys = if random.u8(..4) == 0 { 100 } else { 16 };
        let keys = random.u64(1..=most_keys);
        let mut pair = Pair::new(overdue_after);
        let episode = std::panic::AssertUnwindSafe(|| {
            (0..steps).for_each(|_| pair.step(&mut random, keys));
            if random.bool() {
                pair.core.shut_down();
                pair.model.shut_down();
            }
            pair.drain();
        });
        if let Err(cause) = std::panic::catch_unwind(episode) {
            eprintln!("seed {seed}");
            std::panic::resume_unwind(cause);
        }
    }
}

#[test]
fn core_does_what_the_model_does_for_a_million_steps() {
    core_does_what_the_model_does(0..5_000, 200);
}

#[test]
#[ignore = "minutes with --release"]
fn core_does_what_the_model_does_in_a_million_episodes() {
    core_does_what_the_model_does(0..1_000_000, 100);
}

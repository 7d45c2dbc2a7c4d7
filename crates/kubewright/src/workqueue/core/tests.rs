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

    fn take(&mut self) {
        let now = self.instant();
        assert_eq!(self.core.take(|| now), self.model.take(self.now), "the next hand-out");
    }

    fn done(&mut self, key: u64) {
        let (hash, now) = (self.hasher.hash(&key), self.instant());
        self.core.done(&key, hash, || now);
        self.model.done(key);
    }

    fn step(&mut self, random: &mut fastrand::Rng, keys: u64) {
        let key = random.u64(..keys);
        match random.u8(..100) {
            0..40 => self.add(key, options(random)),
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

/// A million steps in short episodes, so that a failing one is short enough to be followed.
#[test]
fn core_does_what_the_model_does() {
    const EPISODES: u64 = 5_000;
    const STEPS: u64 = 200;
    for seed in 0..EPISODES {
        let mut random = fastrand::Rng::with_seed(seed);
        let overdue_after = random.bool().then(|| Duration::from_millis(random.u64(1..200)));
        let keys = random.u64(1..16);
        let mut pair = Pair::new(overdue_after);
        let episode = std::panic::AssertUnwindSafe(|| {
            (0..STEPS).for_each(|_| pair.step(&mut random, keys));
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

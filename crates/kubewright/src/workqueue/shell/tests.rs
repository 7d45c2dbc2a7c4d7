//! The protocol of the shell under a scheduler that explores interleavings.
//!
//! Every lock is a point where the scheduler may switch threads. A wake-up that is lost shows as a deadlock, which fails the test.

use std::sync::Arc;

use shuttle::future::block_on;
use shuttle::sync::Mutex;
use shuttle::thread;

use super::super::core::CoreOptions;
use super::super::rate_limiter::default_rate_limiter;
use super::*;

/// A world in which all waiting is seen by the scheduler, and time moves when a test says so.
#[derive(Clone)]
struct Explored {
    time: Arc<Mutex<Time>>,
}

struct Time {
    now: Instant,
    /// How many sleeps exist.
    sleeps: usize,
    sleepers: Vec<(Instant, Waker)>,
}

struct Sleep {
    time: Arc<Mutex<Time>>,
    deadline: Instant,
}

impl Explored {
    fn new() -> Self {
        Self { time: Arc::new(Mutex::new(Time { now: Instant::now(), sleeps: 0, sleepers: Vec::new() })) }
    }

    fn advance(&self, by: Duration) {
        let mut time = self.time.lock().unwrap();
        time.now += by;
        let now = time.now;
        let due: Vec<Waker> =
            time.sleepers.extract_if(.., |(deadline, _)| *deadline <= now).map(|(_, waker)| waker).collect();
        drop(time);
        due.into_iter().for_each(Waker::wake);
    }
}

impl Runtime for Explored {
    type Lock<T: Send> = Mutex<T>;
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        self.time.lock().unwrap().now
    }

    fn sleep_until(&self, deadline: Instant) -> Sleep {
        self.time.lock().unwrap().sleeps += 1;
        Sleep { time: self.time.clone(), deadline }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.time.lock().unwrap().sleeps -= 1;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut time = self.time.lock().unwrap();
        if time.now >= self.deadline {
            return Poll::Ready(());
        }
        time.sleepers.push((self.deadline, context.waker().clone()));
        Poll::Pending
    }
}

impl<T: Send> Lock<T> for Mutex<T> {
    fn new(value: T) -> Self {
        Mutex::new(value)
    }

    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock().unwrap())
    }

    fn try_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.try_lock().ok().map(|mut value| f(&mut value))
    }
}

type Queue = Arc<Shell<u64, Explored>>;

fn queue(world: &Explored) -> Queue {
    let options = CoreOptions {
        limiter: default_rate_limiter(),
        overdue_after: None,
        recorder: None,
        epoch: world.now(),
    };
    Arc::new(Shell::new(world.clone(), options))
}

fn add(queue: &Queue, key: u64) {
    queue.add(key, AddOptions::new());
}

fn add_after(queue: &Queue, key: u64, seconds: u64) {
    queue.add(key, AddOptions::new().after(Duration::from_secs(seconds)));
}

/// Runs a test body in random and in adversarial interleavings.
fn explore(body: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(body.clone(), 1_000);
    shuttle::check_pct(body, 1_000, 3);
}

/// Takes keys until the queue is shut down, and sees to it that nobody else has the same key.
fn work(queue: &Queue, in_work: &Mutex<Vec<u64>>) -> Vec<u64> {
    let mut taken = Vec::new();
    while let Some((key, _)) = block_on(queue.get()) {
        {
            let mut in_work = in_work.lock().unwrap();
            assert!(!in_work.contains(&key), "{key} is in two workers");
            in_work.push(key);
        }
        thread::yield_now();
        in_work.lock().unwrap().retain(|&other| other != key);
        taken.push(key);
        queue.done(&key);
    }
    taken
}

#[test]
fn every_added_key_is_handed_out_and_never_to_two_workers() {
    explore(|| {
        let queue = queue(&Explored::new());
        let in_work = Arc::new(Mutex::new(Vec::new()));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (queue, in_work) = (queue.clone(), in_work.clone());
                thread::spawn(move || work(&queue, &in_work))
            })
            .collect();
        let adders: Vec<_> = [[1, 2], [2, 3]]
            .into_iter()
            .map(|keys| {
                let queue = queue.clone();
                thread::spawn(move || keys.into_iter().for_each(|key| add(&queue, key)))
            })
            .collect();
        for adder in adders {
            adder.join().unwrap();
        }
        block_on(queue.shut_down_with_drain());
        let mut taken: Vec<u64> = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
        taken.sort_unstable();
        assert!(taken == [1, 2, 3] || taken == [1, 2, 2, 3], "{taken:?}");
    });
}

#[test]
fn key_added_while_it_is_processed_is_handed_out_once_more() {
    explore(|| {
        let queue = queue(&Explored::new());
        add(&queue, 1);
        assert_eq!(block_on(queue.get()), Some((1, 0)));
        let adder = {
            let queue = queue.clone();
            thread::spawn(move || add(&queue, 1))
        };
        let worker = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.get()))
        };
        queue.done(&1);
        adder.join().unwrap();
        assert_eq!(worker.join().unwrap(), Some((1, 0)));
    });
}

#[test]
fn getter_that_goes_away_passes_its_wake_up_on() {
    explore(|| {
        let queue = queue(&Explored::new());
        let deserter = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut get = Box::pin(queue.get());
                let first = block_on(poll_fn(|context| Poll::Ready(get.as_mut().poll(context))));
                if let Poll::Ready(Some((key, _))) = first {
                    queue.done(&key);
                    add(&queue, key);
                }
            })
        };
        let worker = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.get()))
        };
        add(&queue, 1);
        deserter.join().unwrap();
        assert_eq!(worker.join().unwrap(), Some((1, 0)));
    });
}

#[test]
fn time_is_kept_when_the_timekeeper_goes_away() {
    explore(|| {
        let world = Explored::new();
        let queue = queue(&world);
        add_after(&queue, 1, 10);
        let deserter = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut get = Box::pin(queue.get());
                let first = block_on(poll_fn(|context| Poll::Ready(get.as_mut().poll(context))));
                if let Poll::Ready(Some((key, _))) = first {
                    queue.done(&key);
                    add(&queue, key);
                }
            })
        };
        let worker = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.get()))
        };
        world.advance(Duration::from_secs(10));
        deserter.join().unwrap();
        assert_eq!(worker.join().unwrap(), Some((1, 0)));
    });
}

#[test]
fn sooner_key_moves_the_alarm() {
    explore(|| {
        let world = Explored::new();
        let queue = queue(&world);
        add_after(&queue, 1, 100);
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || block_on(queue.get()))
            })
            .collect();
        let adder = {
            let queue = queue.clone();
            thread::spawn(move || {
                add_after(&queue, 2, 1);
                add_after(&queue, 3, 2);
            })
        };
        adder.join().unwrap();
        world.advance(Duration::from_secs(3));
        let mut taken: Vec<_> = workers.into_iter().filter_map(|worker| worker.join().unwrap()).collect();
        taken.sort_unstable();
        assert_eq!(taken, [(2, 0), (3, 0)]);
    });
}

/// kubernetes/kubernetes#83945: the delaying queue leaked a timer in each turn of its loop.
#[test]
fn timers_are_bounded() {
    explore(|| {
        let world = Explored::new();
        let queue = queue(&world);
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || block_on(queue.get()))
            })
            .collect();
        for seconds in (1..6).rev() {
            add_after(&queue, seconds, seconds);
            assert!(world.time.lock().unwrap().sleeps <= 2, "one for each getter at most");
        }
        queue.shut_down();
        for worker in workers {
            assert_eq!(worker.join().unwrap(), None);
        }
        assert_eq!(world.time.lock().unwrap().sleeps, 0);
    });
}

#[test]
fn shutdown_releases_every_getter_and_ends_a_drain() {
    explore(|| {
        let queue = queue(&Explored::new());
        add(&queue, 1);
        // Nobody will ever be done with this key, so only the shutdown can end the drain.
        assert_eq!(block_on(queue.get()), Some((1, 0)));
        let getters: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || block_on(queue.get()))
            })
            .collect();
        let drain = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.shut_down_with_drain()))
        };
        queue.shut_down();
        drain.join().unwrap();
        for getter in getters {
            assert_eq!(getter.join().unwrap(), None);
        }
    });
}

#[test]
fn drain_returns_after_the_last_key_is_done() {
    explore(|| {
        let queue = queue(&Explored::new());
        add(&queue, 1);
        add(&queue, 2);
        let done = Arc::new(Mutex::new(0));
        let worker = {
            let (queue, done) = (queue.clone(), done.clone());
            thread::spawn(move || {
                while let Some((key, _)) = block_on(queue.get()) {
                    *done.lock().unwrap() += 1;
                    queue.done(&key);
                }
            })
        };
        block_on(queue.shut_down_with_drain());
        assert_eq!(*done.lock().unwrap(), 2);
        worker.join().unwrap();
    });
}

//! Faults of other people's queues, each as the invariant that it broke.
//!
//! The numbers are those of the projects: `k#` is kubernetes/kubernetes, `cr#` kubernetes-sigs/controller-runtime, `kube#`
//! kube-rs/kube.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::FutureExt;
use futures::task::noop_waker;
use kubewright::metrics::Registry;
use kubewright::workqueue::{AddOptions, Queue, QueueOptions};
use tokio::task::JoinSet;
use tokio::time::{Instant, advance};

fn queue<K: Clone + Eq + std::hash::Hash + Send + std::fmt::Debug + 'static>() -> Queue<K> {
    Queue::new(QueueOptions::default())
}

fn at(priority: i32) -> AddOptions {
    AddOptions::new().priority(priority)
}

#[track_caller]
fn next<K: Clone + Eq + std::hash::Hash + Send + std::fmt::Debug + 'static>(queue: &Queue<K>) -> K {
    queue.get().now_or_never().expect("a key is ready").expect("the queue is open").0
}

/// k#104991: popping by re-slicing kept 2 GB of keys alive. Here keys that are done go in batches while others are ready, and at once
/// when none is.
#[tokio::test(start_paused = true)]
async fn dequeue_releases_memory() {
    let queue = queue::<Arc<str>>();
    let mut keys: Vec<Weak<str>> = Vec::new();
    for number in 0..1000 {
        let key: Arc<str> = number.to_string().into();
        keys.push(Arc::downgrade(&key));
        queue.add(key);
    }
    for taken in 1..=keys.len() {
        let key = queue.get().await.unwrap().0;
        queue.done(&key);
        drop(key);
        let held = keys[..taken].iter().filter(|key| key.upgrade().is_some()).count();
        let may_be_held = if queue.is_empty() { 0 } else { 16 };
        assert!(held <= may_be_held, "after {taken} keys the queue still holds {held} of them");
    }
}

// k#83945, a timer leaked in each turn of the loop (timers are bounded): beside the shell, where timers can be counted.

/// Names of one thing in two spellings were two keys, in two workers at once.
#[tokio::test(start_paused = true)]
async fn spellings_of_one_key_are_one_key() {
    let queue = Queue::new(QueueOptions::default().canonical_key(|key: String| key.to_lowercase()));
    let key = |key: &str| key.to_owned();
    queue.add(key("One"));
    queue.add_after(key("ONE"), Duration::from_secs(1));
    queue.add_with(at(7), [key("oNe"), key("Two")]);
    assert_eq!(queue.get().await, Some((key("one"), 7)));
    assert_eq!(next(&queue), "two");
    queue.add_rate_limited(key("ONE"));
    assert!(queue.get().now_or_never().is_none(), "it is being processed");
    assert_eq!(queue.num_requeues(&key("One")), 1);
    assert_eq!(queue.comes_again_in(&key("One")), Some(Duration::from_millis(5)));
    queue.forget(&key("One"));
    assert_eq!(queue.num_requeues(&key("one")), 0);
    queue.done(&key("One"));
    assert_eq!(queue.get().await, Some((key("one"), 0)));
}

/// k#119554: a shutdown during a drain never came back.
#[tokio::test(start_paused = true)]
async fn shutdown_always_terminates() {
    let queue = queue();
    queue.add("stuck");
    next(&queue);
    let mut drain = Box::pin(queue.shut_down_with_drain());
    assert!(futures::poll!(drain.as_mut()).is_pending());
    queue.shut_down();
    drain.await;
    queue.shut_down_with_drain().await;
    queue.shut_down();
}

/// k#135072: goroutines and delayed items outlived the queue. Here there are no tasks, so what is left to show is that the keys go.
#[tokio::test(start_paused = true)]
async fn nothing_outlives_the_queue() {
    for drain in [false, true] {
        let queue = queue::<Arc<str>>();
        let key: Arc<str> = "waiting".into();
        queue.add_after(key.clone(), Duration::from_secs(3600));
        if drain {
            queue.shut_down_with_drain().await;
        } else {
            queue.shut_down();
        }
        assert_eq!(Arc::strong_count(&key), 1, "with drain: {drain}");
    }
}

/// k#138743: without `Forget` the failures stayed for ever. The bound is shown beside the limiters, where it can be seen; here, that
/// a key which was given up starts anew.
#[tokio::test(start_paused = true)]
async fn per_key_state_dies_with_the_key() {
    let queue = queue();
    for _ in 0..10 {
        queue.add_rate_limited("gone");
        assert_eq!(queue.get().await, Some(("gone", 0)));
        queue.done(&"gone");
    }
    assert_eq!(queue.num_requeues(&"gone"), 10);

    advance(Duration::from_secs(2 * 60 * 60)).await;
    let start = Instant::now();
    queue.add_rate_limited("gone");
    assert_eq!(queue.get().await, Some(("gone", 0)));
    assert_eq!(start.elapsed(), Duration::from_millis(5));
    assert_eq!(queue.num_requeues(&"gone"), 1);
}

/// virtual-kubelet#953: one limiter in two queues let one forget the other's failures. A queue owns its limiter, so this cannot be
/// written; two queues with the default limiter do not know of each other.
#[tokio::test(start_paused = true)]
async fn backoff_state_is_per_queue() {
    let (one, other) = (queue(), queue());
    one.add_rate_limited("key");
    other.add_rate_limited("key");
    other.forget(&"key");
    assert_eq!((one.num_requeues(&"key"), other.num_requeues(&"key")), (1, 0));
}

/// cr#3540: the hand-out sent on a channel while it held the lock. Wakers run outside of ours: one that uses the queue does not
/// deadlock.
#[tokio::test(start_paused = true)]
async fn nothing_is_called_while_the_lock_is_held() {
    struct Reentrant(Queue<&'static str>);
    impl futures::task::ArcWake for Reentrant {
        fn wake_by_ref(this: &Arc<Self>) {
            this.0.add("from the waker");
        }
    }
    let queue = queue();
    let waker = futures::task::waker(Arc::new(Reentrant(queue.clone())));
    let mut get = Box::pin(queue.get());
    assert!(get.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());

    queue.add("first");
    assert_eq!(queue.len(), 2);
    assert_eq!(get.await, Some(("first", 0)));
}

/// cr#3330: a low priority came while a higher one was ready.
#[tokio::test(start_paused = true)]
async fn highest_ready_is_first() {
    let queue = queue();
    queue.add_with(at(-100), ["low"]);
    queue.add_with(at(0), ["middle"]);
    queue.add_with(at(100).after(Duration::from_secs(1)), ["high"]);
    advance(Duration::from_secs(1)).await;
    assert_eq!([next(&queue), next(&queue), next(&queue)], ["high", "middle", "low"]);
}

/// cr#3408: the order got lost when a priority changed.
#[tokio::test(start_paused = true)]
async fn order_is_kept_within_a_priority() {
    let queue = queue();
    queue.add_with(at(0), 0..10);
    queue.add_with(at(5), [7, 3]);
    queue.add_with(at(0), [3, 9]);
    queue.add_with(at(5), [7, 1]);
    let order: Vec<i32> = (0..10).map(|_| next(&queue)).collect();
    assert_eq!(order, [7, 3, 1, 0, 2, 4, 5, 6, 8, 9]);
}

/// cr#3368: the number of waiters changed outside of the lock, and a wake-up got lost. The interleavings are explored beside the shell;
/// here with threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_wake_up_is_lost_with_many_getters_and_adders() {
    const KEYS: u32 = 2_000;
    let queue = queue::<u32>();
    let mut getters = JoinSet::new();
    for _ in 0..8 {
        let queue = queue.clone();
        getters.spawn(async move {
            let mut taken = 0;
            // Every other call gives up at once, with or without having been called.
            while queue.get().now_or_never().map_or_else(
                || true,
                |_| {
                    taken += 1;
                    false
                },
            ) || queue.get().await.inspect(|_| taken += 1).is_some()
            {
                tokio::task::yield_now().await;
            }
            taken
        });
    }
    let mut adders = JoinSet::new();
    for adder in 0..4 {
        let queue = queue.clone();
        adders.spawn(async move {
            for key in (adder..KEYS).step_by(4) {
                queue.add(key);
                tokio::task::yield_now().await;
            }
        });
    }
    adders.join_all().await;
    while !queue.is_empty() {
        tokio::task::yield_now().await;
    }
    queue.shut_down();
    getters.join_all().await;
}

/// cr#3337, cr#3250: `Get` blocked after the shutdown, and keys still came in.
#[tokio::test(start_paused = true)]
async fn closed_means_closed() {
    let queue = queue();
    queue.add("ready");
    queue.add_after("waiting", Duration::from_secs(1));
    queue.shut_down();
    queue.add("late");
    queue.add_with(at(5).after(Duration::from_secs(1)), ["later"]);
    advance(Duration::from_secs(10)).await;
    assert!(queue.is_shut_down());
    assert_eq!(queue.len(), 0);
    assert_eq!(queue.get().await, None);
}

/// cr#3103: several keys in one rate-limited add got each other's delay.
#[tokio::test(start_paused = true)]
async fn each_key_has_its_own_backoff() {
    let queue = queue();
    for _ in 0..3 {
        queue.add_rate_limited("often");
        assert_eq!(queue.get().await, Some(("often", 0)));
        queue.done(&"often");
    }
    let start = Instant::now();
    queue.add_with(AddOptions::new().rate_limited(), ["often", "new", "newer"]);
    for (key, milliseconds) in [("new", 5), ("newer", 5), ("often", 40)] {
        assert_eq!(queue.get().await, Some((key, 0)));
        assert_eq!(start.elapsed(), Duration::from_millis(milliseconds), "{key}");
    }
}

/// cr#3060: the tree changed while it was walked, and items were skipped. Making many keys ready at once changes what is walked.
#[tokio::test(start_paused = true)]
async fn no_key_is_skipped_when_many_become_ready_at_once() {
    let queue = queue();
    for key in 0..100 {
        queue.add_with(at(key % 3).after(Duration::from_secs(1)), [key]);
    }
    advance(Duration::from_secs(1)).await;
    assert_eq!(queue.len(), 100);
    let mut order: Vec<i32> = (0..100).map(|_| next(&queue)).collect();
    assert!(order.is_sorted_by_key(|key| (-(key % 3), *key)), "{order:?}");
    order.sort_unstable();
    assert!(order.into_iter().eq(0..100));
}

/// cr#3066, cr#3085, cr#3243: the depth was negative, or counted twice.
#[tokio::test(start_paused = true)]
async fn depth_is_adds_minus_gets() {
    let queue = Queue::new(QueueOptions::new("depth").metrics_provider(Arc::new(Registry::new())));
    let mut random = fastrand::Rng::with_seed(1);
    let (mut gets, mut running) = (0, Vec::new());
    for _ in 0..2_000 {
        match random.u8(..4) {
            0 | 1 => queue.add_with(
                at(random.i32(-1..=1)).after(Duration::from_millis(random.u64(..3))),
                [random.u8(..20)],
            ),
            2 => {
                if let Some(Some((key, _))) = queue.get().now_or_never() {
                    gets += 1;
                    running.push(key);
                }
            }
            _ => {
                advance(Duration::from_millis(1)).await;
                running.drain(..).for_each(|key| queue.done(&key));
            }
        }
        let stats = queue.stats().unwrap();
        let depth: usize = stats.depth.iter().map(|&(_, depth)| depth).sum();
        assert_eq!(depth as u64, stats.adds - gets);
        assert_eq!(depth, queue.len());
    }
    assert!(gets > 100, "the loop handed out {gets} keys");
}

/// cr#3396: 810,000 series of the `priority` label.
#[tokio::test(start_paused = true)]
async fn label_cardinality_is_capped() {
    let registry = Registry::new();
    let queue = Queue::new(QueueOptions::new("many").metrics_provider(Arc::new(registry.clone())));
    for priority in 0..1_000 {
        queue.add_with(at(priority), [priority]);
    }
    let families = registry.gather();
    let depth = families.iter().find(|family| family.name() == "workqueue_depth").unwrap();
    assert_eq!(depth.get_metric().len(), 26);
    let label = |metric: &prometheus::proto::Metric| metric.get_label()[2].value().to_owned();
    let rest =
        depth.get_metric().iter().find(|metric| label(metric) == "exceeded_cardinality_limit").unwrap();
    assert!((rest.get_gauge().get_value() - 975.0).abs() < 0.1);
}

/// cr#3496: keys of the initial list never ran while others kept coming.
#[tokio::test(start_paused = true)]
async fn every_key_runs_within_the_bound() {
    let queue = queue();
    let start = Instant::now();
    queue.add_with(at(-100), 0..100);
    queue.add_with(at(0), 1000..1200);
    let (mut low, mut all) = (Vec::new(), 0);
    // A worker that is never idle: each key takes 0.1 s and is at once wanted again, if its priority is high.
    while low.len() < 100 {
        let (key, priority) = queue.get().await.unwrap();
        advance(Duration::from_millis(100)).await;
        if priority < 0 {
            low.push(key);
        } else {
            queue.add(key);
        }
        queue.done(&key);
        all += 1;
    }
    assert!(start.elapsed() <= Duration::from_secs(60), "{:?}", start.elapsed());
    assert!(start.elapsed() >= Duration::from_secs(30), "high priorities come first before that");
    assert!(low.into_iter().eq(0..100), "longest ready first");
    assert!(all >= 300 + 2 * 99, "and every second turn stays with the high priority");
}

/// The other side of ageing: switched off, priorities are strict.
#[tokio::test(start_paused = true)]
async fn without_ageing_priorities_are_strict() {
    let queue = Queue::new(QueueOptions::default().aging(None));
    queue.add_with(at(-100), ["low"]);
    queue.add("high");
    for _ in 0..1_000 {
        assert_eq!(queue.get().await, Some(("high", 0)));
        advance(Duration::from_secs(1)).await;
        queue.add("high");
        queue.done(&"high");
    }
}

/// ingress-nginx#7439: a loop of failing and re-adding took 8 GB. A failing key waits longer each time.
#[tokio::test(start_paused = true)]
async fn re_add_of_a_failing_key_is_rate_limited() {
    let queue = queue();
    let start = Instant::now();
    queue.add("failing");
    let mut tries = 0;
    while start.elapsed() < Duration::from_secs(3600) {
        let (key, _) = queue.get().await.unwrap();
        queue.add_rate_limited(key);
        queue.done(&key);
        tries += 1;
    }
    assert!(tries < 25, "{tries} tries in an hour");
}

/// Watch events wake a key that is in backoff, and none of them makes its backoff longer.
#[tokio::test(start_paused = true)]
async fn spurious_wakes_do_not_inflate_backoff() {
    let queue = queue();
    queue.add("key");
    next(&queue);
    for _ in 0..10 {
        queue.add_rate_limited("key");
    }
    queue.done(&"key");
    assert_eq!(queue.num_requeues(&"key"), 1);

    let start = Instant::now();
    assert_eq!(queue.get().await, Some(("key", 0)));
    assert_eq!(start.elapsed(), Duration::from_millis(5));

    // That hand-out may fail, which counts; an event may come before the retry, which does not.
    queue.add_rate_limited("key");
    queue.done(&"key");
    queue.add("key");
    queue.add_rate_limited("key");
    assert_eq!(queue.num_requeues(&"key"), 2);
    assert_eq!(next(&queue), "key", "an event bypasses the backoff");
}

/// kube#925: a bounded channel to itself was full, and the applier deadlocked. Adding from within a worker never blocks.
#[tokio::test(start_paused = true)]
async fn adding_never_blocks() {
    let queue = queue();
    queue.add_with(AddOptions::new(), 0..10_000);
    for _ in 0..10_000 {
        let (key, _) = queue.get().await.unwrap();
        queue.add_after(key, Duration::from_secs(1));
        queue.done(&key);
    }
    assert!(queue.is_empty());
    advance(Duration::from_secs(1)).await;
    assert_eq!(queue.len(), 10_000);
}

/// kube#1488, kube#1779: `Instant + huge Duration` panicked, and so did a timer two years ahead.
#[tokio::test(start_paused = true)]
async fn any_duration_is_accepted() {
    let queue = queue();
    for after in [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_secs(3 * 365 * 24 * 60 * 60)] {
        queue.add_after("far", after);
        assert!(queue.get().now_or_never().is_none(), "a getter waits for {after:?}");
    }
    queue.add_after("near", Duration::from_secs(1));
    assert_eq!(queue.get().await, Some(("near", 0)));

    let start = Instant::now();
    assert_eq!(queue.get().await, Some(("far", 0)), "three years later");
    assert_eq!(start.elapsed().as_secs() + 1, 3 * 365 * 24 * 60 * 60);
}

/// kube-rs 5 let 4 of 200 objects run: whoever was added again came first.
#[tokio::test(start_paused = true)]
async fn always_dirty_keys_share_one_worker_evenly() {
    let queue = queue();
    queue.add_with(AddOptions::new(), 0..200);
    let mut runs = [0_u32; 200];
    for _ in 0..4_000 {
        let (key, _) = queue.get().await.unwrap();
        runs[key] += 1;
        queue.add(key);
        queue.done(&key);
    }
    assert!(runs.iter().all(|runs| (19..=21).contains(runs)), "{runs:?}");
}

/// Remembers that it was woken.
#[derive(Default)]
struct Called(AtomicBool);

impl futures::task::ArcWake for Called {
    fn wake_by_ref(this: &Arc<Self>) {
        this.0.store(true, Ordering::Relaxed);
    }
}

/// Keys that come together are worked on together: the one call that adds them calls as many getters.
#[tokio::test(start_paused = true)]
async fn adding_many_keys_calls_as_many_getters() {
    let queue = queue();
    let called: Vec<Arc<Called>> = (0..3).map(|_| Arc::default()).collect();
    let mut getters = Vec::new();
    for called in &called {
        let waker = futures::task::waker(called.clone());
        let mut get = Box::pin(queue.get());
        assert!(get.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
        getters.push(get);
    }
    queue.add_with(AddOptions::new(), ["one", "two"]);
    let called: Vec<bool> = called.iter().map(|called| called.0.load(Ordering::Relaxed)).collect();
    assert_eq!(called, [true, true, false]);
}

/// What is handed out is one call of `get` at a time: dropping the call before it returns takes nothing.
#[tokio::test(start_paused = true)]
async fn dropped_get_takes_nothing() {
    let queue = queue();
    let mut dropped = Box::pin(queue.get());
    let mut waiting = Box::pin(queue.get());
    let waker = noop_waker();
    let mut context = std::task::Context::from_waker(&waker);
    assert!(dropped.as_mut().poll(&mut context).is_pending());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    queue.add("key");
    drop(dropped);
    assert_eq!(waiting.await, Some(("key", 0)));
}

#[tokio::test(start_paused = true)]
async fn drain_hands_out_what_is_ready_and_waits_for_it() {
    let queue = queue();
    queue.add("one");
    queue.add("two");
    queue.add_after("dropped", Duration::from_secs(1));
    next(&queue);
    let mut drain = Box::pin(queue.shut_down_with_drain());
    assert!(futures::poll!(drain.as_mut()).is_pending());
    queue.add("refused");
    queue.done(&"one");
    assert!(futures::poll!(drain.as_mut()).is_pending(), "two is ready");
    assert_eq!(queue.get().await, Some(("two", 0)));
    assert_eq!(queue.get().await, None);
    assert!(futures::poll!(drain.as_mut()).is_pending(), "two is being processed");
    queue.done(&"two");
    drain.await;
}

#[tokio::test(start_paused = true)]
async fn after_and_rate_limit_together_wait_for_the_shorter_one() {
    let queue = queue();
    let start = Instant::now();
    queue.add_with(AddOptions::new().rate_limited().after(Duration::from_millis(1)), ["short"]);
    queue.add_with(AddOptions::new().rate_limited().after(Duration::from_secs(1)), ["long"]);
    assert_eq!(queue.get().await, Some(("short", 0)));
    assert_eq!(start.elapsed(), Duration::from_millis(1));
    assert_eq!(queue.num_requeues(&"short"), 1, "the limiter is asked nevertheless");
    assert_eq!(queue.get().await, Some(("long", 0)));
    assert_eq!(start.elapsed(), Duration::from_millis(5));
}

#[test]
fn handles_and_futures_go_to_other_threads() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let queue = queue::<String>();
    is_shared(&queue);
    drop(is_send(queue.get()));
    drop(is_send(queue.shut_down_with_drain()));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_being_processed_says_when_it_comes_again() {
    let queue = Queue::new(QueueOptions::default());
    queue.add("key");
    assert_eq!(queue.comes_again_in(&"key"), None, "it is not being processed");
    queue.get().await;
    assert_eq!(queue.comes_again_in(&"key"), None, "nobody has asked for it");
    queue.add_after("key", Duration::from_secs(60));
    advance(Duration::from_secs(20)).await;
    assert_eq!(queue.comes_again_in(&"key"), Some(Duration::from_secs(40)));
    queue.add("key");
    assert_eq!(queue.comes_again_in(&"key"), Some(Duration::ZERO));
}

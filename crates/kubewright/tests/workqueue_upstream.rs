//! What controller-runtime's own tests assert of its priority queue, row by row.
//!
//! Source: controller-runtime `pkg/controller/priorityqueue/priorityqueue_test.go`. Rows without a test here:
//!
//! - `TestItemCloneCopiesAllFields`, `TestItemCloneDoesNotShareMemoryWithOriginal` and
//!   `TestPriorityQueueLogStateDoesNotRaceOnReadyAt` are about the copies that a task makes to log the queue's state. There is no
//!   such task.
//! - `TestFuzzPriorityQueue` is, as far as one thread goes, the comparison with a model beside the core, and as far as many go,
//!   `thread_safe_without_double_hand_out` here and the explored interleavings beside the shell.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use kubewright::metrics::Registry;
use kubewright::workqueue::{AddOptions, ItemExponentialFailureRateLimiter, Queue, QueueOptions, QueueStats};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, advance};

type Key = &'static str;

/// A queue that is measured, in a registry of its own.
fn queue() -> Queue<Key> {
    Queue::new(QueueOptions::new("test").metrics_provider(Arc::new(Registry::new())))
}

fn at(priority: i32) -> AddOptions {
    AddOptions::new().priority(priority)
}

fn stats(queue: &Queue<Key>) -> QueueStats {
    queue.stats().expect("the queue has a name")
}

#[track_caller]
fn depth(queue: &Queue<Key>, expected: &[(i32, usize)]) {
    assert_eq!(stats(queue).depth, expected);
}

/// The next key, which must be there by now.
#[track_caller]
fn next(queue: &Queue<Key>) -> (Key, i32) {
    queue.get().now_or_never().expect("a key is ready").expect("the queue is open")
}

#[track_caller]
fn nothing(queue: &Queue<Key>) {
    assert_eq!(queue.get().now_or_never(), None, "no key can be handed out");
}

#[tokio::test(start_paused = true)]
async fn returns_an_item() {
    let queue = queue();
    queue.add("foo");
    depth(&queue, &[(0, 1)]);

    assert_eq!(next(&queue), ("foo", 0));
    depth(&queue, &[(0, 0)]);
    assert_eq!((stats(&queue).adds, stats(&queue).retries), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn returns_items_in_order() {
    let queue = queue();
    queue.add("foo");
    queue.add("bar");
    assert_eq!(next(&queue), ("foo", 0));
    assert_eq!(next(&queue), ("bar", 0));
}

#[tokio::test(start_paused = true)]
async fn does_not_return_an_item_that_is_currently_locked() {
    let queue = queue();
    queue.add("foo");
    assert_eq!(next(&queue).0, "foo");

    queue.add("foo");
    queue.add("bar");
    queue.add("bar");
    assert_eq!(next(&queue).0, "bar");
    nothing(&queue);
    depth(&queue, &[(0, 1)]);
    assert_eq!(stats(&queue).adds, 3);
}

#[tokio::test(start_paused = true)]
async fn returns_an_item_as_soon_as_it_is_unlocked() {
    let queue = queue();
    queue.add("foo");
    assert_eq!(next(&queue).0, "foo");
    queue.add("foo");
    nothing(&queue);

    // It became ready before these, and being locked does not cost it its place.
    queue.add("bar");
    queue.add("baz");
    queue.done(&"foo");
    assert_eq!(next(&queue).0, "foo");
}

#[tokio::test(start_paused = true)]
async fn de_duplicates_items() {
    let queue = queue();
    queue.add("foo");
    queue.add("foo");
    assert_eq!(queue.len(), 1);
    assert_eq!(stats(&queue).adds, 1);
    assert_eq!(next(&queue).0, "foo");
    nothing(&queue);
}

#[tokio::test(start_paused = true)]
async fn enqueues_a_locked_item() {
    let queue = queue();
    queue.add("foo");
    queue.add("bar");
    assert_eq!(next(&queue).0, "foo");

    queue.add("foo");
    assert_eq!(next(&queue).0, "bar");
    nothing(&queue);
    queue.done(&"foo");
    assert_eq!(next(&queue).0, "foo");
}

#[tokio::test(start_paused = true)]
async fn retains_the_highest_priority() {
    let queue = queue();
    queue.add_with(at(1), ["foo"]);
    queue.add_with(at(2), ["foo"]);
    assert_eq!(next(&queue), ("foo", 2));
    depth(&queue, &[(1, 0), (2, 0)]);
}

#[tokio::test(start_paused = true)]
async fn will_not_decrease_the_priority() {
    let queue = queue();
    queue.add_with(at(2), ["foo"]);
    queue.add_with(at(1), ["foo"]);
    assert_eq!(next(&queue), ("foo", 2));
    assert_eq!(stats(&queue).adds, 1);
}

#[tokio::test(start_paused = true)]
async fn gets_pushed_to_the_front_if_the_priority_increases() {
    let queue = queue();
    queue.add_with(at(0), ["foo", "bar", "baz"]);
    queue.add_with(at(1), ["baz"]);
    depth(&queue, &[(0, 2), (1, 1)]);
    assert_eq!(next(&queue), ("baz", 1));
    assert_eq!(next(&queue), ("foo", 0));
}

#[tokio::test(start_paused = true)]
async fn retains_the_lowest_after_duration() {
    let queue = queue();
    for seconds in [60, 1, 30] {
        queue.add_after("foo", Duration::from_secs(seconds));
    }
    let start = Instant::now();
    assert_eq!(queue.get().await, Some(("foo", 0)));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    assert_eq!(stats(&queue).retries, 3);
}

#[tokio::test(start_paused = true)]
async fn does_not_include_non_ready_items_in_len() {
    let queue = queue();
    queue.add_after("foo", Duration::from_secs(60));
    assert!(queue.is_empty());
    queue.add("bar");
    queue.add_with(at(1), ["baz"]);
    assert_eq!(queue.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn get_does_not_get_stuck_when_the_queue_is_shut_down() {
    let queue = queue();
    queue.shut_down();
    assert_eq!(queue.get().await, None);
}

#[tokio::test]
async fn returns_many_items() {
    const KEYS: u32 = 1_000;
    let queue = Queue::new(QueueOptions::default());
    queue.add_with(AddOptions::new(), 0..KEYS);
    let mut workers = JoinSet::new();
    for _ in 0..100 {
        let queue = queue.clone();
        workers.spawn(async move {
            let mut taken = Vec::new();
            while let Some((key, _)) = queue.get().await {
                taken.push(key);
                queue.done(&key);
                if queue.is_empty() {
                    queue.shut_down();
                }
            }
            taken
        });
    }
    let mut taken: Vec<u32> = workers.join_all().await.concat();
    taken.sort_unstable();
    assert!(taken.into_iter().eq(0..KEYS), "each key comes once");
}

#[tokio::test(start_paused = true)]
async fn updates_metrics_for_an_item_that_gets_initially_added_with_after_and_then_without() {
    let queue = queue();
    queue.add_after("foo", Duration::from_secs(3600));
    depth(&queue, &[]);
    assert_eq!((stats(&queue).adds, stats(&queue).retries), (0, 1));

    queue.add("foo");
    depth(&queue, &[(0, 1)]);
    assert_eq!(next(&queue).0, "foo");
    depth(&queue, &[(0, 0)]);
    assert_eq!((stats(&queue).adds, stats(&queue).retries), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn updates_metrics_when_an_item_with_after_is_re_added_with_higher_priority_and_no_after() {
    let queue = queue();
    queue.add_after("foo", Duration::from_secs(3600));
    queue.add_with(at(1), ["foo"]);
    depth(&queue, &[(1, 1)]);
    assert_eq!(next(&queue), ("foo", 1));
    depth(&queue, &[(1, 0)]);
    assert_eq!((stats(&queue).adds, stats(&queue).retries), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn follows_fifo_order_in_the_new_priority_when_item_priority_changes() {
    let queue = queue();
    queue.add_with(at(0), ["a", "b", "c", "d"]);
    for key in ["d", "b", "c"] {
        queue.add_with(at(1), [key]);
    }
    let order: Vec<Key> = (0..4).map(|_| next(&queue).0).collect();
    assert_eq!(order, ["d", "b", "c", "a"]);
}

/// On real threads and real time; about exclusion alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thread_safe_without_double_hand_out() {
    const ADDS: u32 = 2_000;
    let queue = Queue::<u32>::new(QueueOptions::default());
    let in_work = Arc::new(Mutex::new(HashSet::new()));
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let (queue, in_work) = (queue.clone(), in_work.clone());
        workers.spawn(async move {
            while let Some((key, _)) = queue.get().await {
                assert!(in_work.lock().insert(key), "{key} is in two workers");
                tokio::task::yield_now().await;
                in_work.lock().remove(&key);
                queue.done(&key);
            }
        });
    }
    let mut adders = JoinSet::new();
    for adder in 0..4 {
        let queue = queue.clone();
        adders.spawn(async move {
            let mut random = fastrand::Rng::with_seed(adder);
            for _ in 0..ADDS {
                let after = Duration::from_micros(random.u64(..100) * random.u64(..2));
                queue.add_with(at(random.i32(-1..=1)).after(after), [random.u32(..50)]);
                if random.u8(..16) == 0 {
                    tokio::task::yield_now().await;
                }
            }
        });
    }
    adders.join_all().await;
    queue.shut_down_with_drain().await;
    workers.join_all().await;
    assert!(in_work.lock().is_empty() && queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn high_priority_items_are_returned_before_low_priority_item_multiple_times() {
    let queue = queue();
    queue.add_with(at(-1), ["low"]);
    queue.add("high");
    for _ in 0..100 {
        assert_eq!(queue.get().await, Some(("high", 0)));
        queue.add("high");
        queue.done(&"high");
    }
}

#[tokio::test(start_paused = true)]
async fn item_is_only_returned_after_after_has_passed() {
    let queue = queue();
    queue.add_after("foo", Duration::from_millis(5) + Duration::from_nanos(1));
    advance(Duration::from_millis(5)).await;
    nothing(&queue);
    advance(Duration::from_nanos(1)).await;
    assert_eq!(next(&queue).0, "foo");
}

#[tokio::test(start_paused = true)]
async fn high_priority_item_that_became_ready_is_returned_before_low_priority_item() {
    let queue = queue();
    queue.add_with(at(1).after(Duration::from_secs(1)), ["high"]);
    queue.add_with(at(0), ["low"]);
    advance(Duration::from_secs(1)).await;
    assert_eq!(next(&queue), ("high", 1));
    assert_eq!(next(&queue), ("low", 0));
}

#[tokio::test(start_paused = true)]
async fn item_is_returned_as_soon_as_possible() {
    let queue = queue();
    let start = Instant::now();
    queue.add_after("foo", Duration::from_secs(1));
    assert_eq!(queue.get().await, Some(("foo", 0)));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn waiting_item_is_returned_right_after_read_without_after() {
    let queue = queue();
    queue.add_after("foo", Duration::from_secs(1000));
    let start = Instant::now();
    let adder = async {
        advance(Duration::from_secs(1)).await;
        queue.add("foo");
    };
    let (got, ()) = futures::join!(queue.get(), adder);
    assert_eq!(got, Some(("foo", 0)));
    assert_eq!(start.elapsed(), Duration::from_secs(1));

    queue.done(&"foo");
    advance(Duration::from_secs(2000)).await;
    nothing(&queue);
}

#[tokio::test(start_paused = true)]
async fn multiple_items_with_after_are_returned_in_correct_order() {
    let queue = queue();
    let start = Instant::now();
    for (key, seconds) in [("three", 3), ("one", 1), ("two", 2), ("another two", 2)] {
        queue.add_after(key, Duration::from_secs(seconds));
    }
    for (key, seconds) in [("one", 1), ("two", 2), ("another two", 2), ("three", 3)] {
        assert_eq!(queue.get().await, Some((key, 0)));
        assert_eq!(start.elapsed(), Duration::from_secs(seconds), "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn get_from_priority_queue_is_unblocked_on_shutdown() {
    for waiting in [None, Some("foo")] {
        let queue = queue();
        queue.add_with(AddOptions::new().after(Duration::from_secs(3600)), waiting);
        let (got, ()) = futures::join!(queue.get(), async { queue.shut_down() });
        assert_eq!(got, None, "with {waiting:?} waiting");
    }
}

#[tokio::test(start_paused = true)]
async fn items_are_included_in_len_and_metrics_once_they_are_ready() {
    let queue = queue();
    queue.add_after("foo", Duration::from_secs(1));
    queue.add_with(at(5).rate_limited(), ["bar"]);
    assert_eq!(queue.len(), 0);
    depth(&queue, &[]);
    assert_eq!((stats(&queue).adds, stats(&queue).retries), (0, 2));

    advance(Duration::from_millis(5)).await;
    assert_eq!(queue.len(), 1);
    depth(&queue, &[(5, 1)]);

    advance(Duration::from_secs(1)).await;
    assert_eq!(queue.len(), 2);
    depth(&queue, &[(0, 1), (5, 1)]);
    assert_eq!((stats(&queue).adds, stats(&queue).retries), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn metrics_are_updated_for_item_whose_requeue_after_expired_that_gets_added_again_without_requeue_after()
 {
    let queue = queue();
    queue.add_after("foo", Duration::from_secs(1));
    advance(Duration::from_secs(2)).await;
    queue.add("foo");
    depth(&queue, &[(0, 1)]);
    assert_eq!(stats(&queue).adds, 1);

    assert_eq!(next(&queue).0, "foo");
    depth(&queue, &[(0, 0)]);
    assert_eq!(stats(&queue).queue_duration.sum(), Duration::from_secs(1), "from when it was due");
}

#[tokio::test(start_paused = true)]
async fn when_adding_multiple_items_with_ratelimit_true_they_dont_affect_each_other() {
    let limiter = ItemExponentialFailureRateLimiter::new(Duration::from_secs(1), Duration::from_secs(1000));
    let queue = Queue::new(QueueOptions::default().rate_limiter(limiter));
    let start = Instant::now();
    queue.add_rate_limited("foo");
    assert_eq!(queue.get().await, Some(("foo", 0)));
    queue.add_with(AddOptions::new().rate_limited(), ["foo", "bar"]);
    queue.done(&"foo");

    assert_eq!(queue.get().await, Some(("bar", 0)));
    assert_eq!(start.elapsed(), Duration::from_secs(2), "its first failure");
    assert_eq!(queue.get().await, Some(("foo", 0)));
    assert_eq!(start.elapsed(), Duration::from_secs(3), "its second failure");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn does_not_deadlock_on_shutdown_while_handing_out_items() {
    for _ in 0..100 {
        let queue = Queue::<u32>::new(QueueOptions::default());
        let mut tasks = JoinSet::new();
        for _ in 0..4 {
            let queue = queue.clone();
            tasks.spawn(async move {
                while let Some((key, _)) = queue.get().await {
                    queue.done(&key);
                }
            });
        }
        queue.add_with(AddOptions::new(), 0..50);
        queue.shut_down();
        tasks.join_all().await;
    }
}

#[tokio::test(start_paused = true)]
async fn unfinished_work_is_measured_while_it_goes_on() {
    let queue = queue();
    queue.add("foo");
    queue.add("bar");
    next(&queue);
    advance(Duration::from_secs(2)).await;
    next(&queue);
    advance(Duration::from_secs(1)).await;
    assert_eq!(stats(&queue).unfinished_work, Duration::from_secs(4));
    assert_eq!(stats(&queue).longest_running_processor, Duration::from_secs(3));

    queue.done(&"foo");
    assert_eq!(stats(&queue).unfinished_work, Duration::from_secs(1));
    assert_eq!(stats(&queue).longest_running_processor, Duration::from_secs(1));
    assert_eq!(stats(&queue).work_duration.sum(), Duration::from_secs(3));
    assert_eq!(stats(&queue).work_duration.count(), 1);
}

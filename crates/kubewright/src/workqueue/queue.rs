//! The queue as its users see it.

use std::borrow::Cow;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use super::core::CoreOptions;
use super::metrics::{self, Observed, QueueStats, Recorder};
use super::runtime::{Runtime, Tokio};
use super::shell::Shell;
use super::{AddOptions, QueueMetrics, QueueOptions};

/// A queue of keys with priorities, delays and backoff, which hands out each key to one worker at a time.
///
/// Clones are handles to one queue. The queue has no task of its own: a waiting [`get`](Self::get) keeps the time.
///
/// Adding never blocks and never awaits, and any number of keys fits in: a key is queued at most once, so the number of
/// existing objects is the bound.
///
/// Source: controller-runtime `priorityqueue.PriorityQueue`.
pub struct Queue<K: Send> {
    shell: Arc<Shell<K, Tokio>>,
    /// See [`QueueOptions::canonical_key`].
    canonical_key: Option<fn(K) -> K>,
}

impl<K: Clone + Eq + Hash + Send + fmt::Debug + 'static> Queue<K> {
    /// Makes an empty queue.
    pub fn new(options: QueueOptions<K>) -> Self {
        let measured = !options.name.is_empty();
        let shell = Arc::new(Shell::new(
            Tokio,
            CoreOptions {
                limiter: options.rate_limiter,
                overdue_after: options.aging.map(|aging| aging / 2),
                recorder: measured.then(Recorder::default),
                epoch: Tokio.now(),
            },
        ));
        if measured {
            let provider = options.metrics_provider.unwrap_or_else(metrics::default_provider);
            let observed: Arc<dyn Observed> = shell.clone();
            provider.register(&options.name, QueueMetrics::new(&observed));
        }
        Self { shell, canonical_key: options.canonical_key }
    }

    /// Adds a key at priority 0, to be handed out at once.
    ///
    /// A key that waits becomes ready and its timer is gone; the failures of its backoff are kept.
    pub fn add(&self, key: K) {
        self.shell.add(self.canonical(key), AddOptions::new());
    }

    /// Adds a key at priority 0, to be handed out after some time. A key that is ready or due sooner stays so.
    pub fn add_after(&self, key: K, after: Duration) {
        self.shell.add(self.canonical(key), AddOptions::new().after(after));
    }

    /// Adds a key that failed, at priority 0, to be handed out when the rate limiter says so.
    pub fn add_rate_limited(&self, key: K) {
        self.shell.add(self.canonical(key), AddOptions::new().rate_limited());
    }

    /// Adds keys. After a shutdown this and its siblings do nothing.
    ///
    /// # Example: a retry that keeps its priority
    ///
    /// ```
    /// # use kubewright::workqueue::{AddOptions, Queue, QueueOptions};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let queue = Queue::new(QueueOptions::default());
    /// queue.add_with(AddOptions::new().priority(-100), ["a", "b"]);
    ///
    /// let (key, priority) = queue.get().await.expect("the queue is open");
    /// queue.add_with(AddOptions::new().rate_limited().priority(priority), [key]);
    /// queue.done(&key);
    ///
    /// assert_eq!(queue.get().await, Some(("b", -100)));
    /// assert_eq!(queue.get().await, Some(("a", -100)), "5 ms later");
    /// # }
    /// ```
    pub fn add_with(&self, options: AddOptions, keys: impl IntoIterator<Item = K>) {
        self.shell.add_all(keys.into_iter().map(|key| self.canonical(key)), options);
    }

    /// Waits for the next key and takes it, with its priority. `None` means that the queue was shut down and is empty.
    ///
    /// The key belongs to the caller until it calls [`done`](Self::done): nobody else gets it before.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes nothing out of the queue, and passes on a wake-up that it had received.
    ///
    /// # Panics
    ///
    /// Panics if a key waits for its time and this is polled outside of a tokio runtime with the time driver enabled.
    pub async fn get(&self) -> Option<(K, i32)> {
        // A worker whose reconciler never waits would otherwise keep its thread for as long as there are keys.
        tokio::task::coop::cooperative(self.shell.get()).await
    }

    /// Says that a key from [`get`](Self::get) has been processed. If it was added in the meantime it can be handed out now.
    ///
    /// Without effect on a key that is not being processed.
    pub fn done(&self, key: &K) {
        self.shell.done(&self.canonical_of(key));
    }

    /// Drops the failures of a key, so that its next backoff starts from the beginning. This does not end its processing.
    pub fn forget(&self, key: &K) {
        self.shell.forget(&self.canonical_of(key));
    }

    /// How many failures the rate limiter remembers for a key.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.shell.num_requeues(&self.canonical_of(key))
    }

    /// How long it takes until a key that is being processed comes again: zero if as soon as it is [`done`](Self::done), `None` if nobody has asked
    /// for it, or it is not being processed.
    pub fn comes_again_in(&self, key: &K) -> Option<Duration> {
        self.shell.comes_again_in(&self.canonical_of(key))
    }

    /// How many keys are ready, including those that were added while they are being processed. Keys that wait for their time
    /// do not count.
    pub fn len(&self) -> usize {
        self.shell.len()
    }

    /// Whether no key is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is measured at this moment; `None` if the queue has no name.
    pub fn stats(&self) -> Option<QueueStats> {
        self.shell.stats()
    }

    /// Ends the queue: nothing is added any more, what waits or is ready is dropped, and every [`get`](Self::get) returns `None`.
    ///
    /// Keys that are being processed stay so until [`done`](Self::done), and a drain that is under way ends.
    pub fn shut_down(&self) {
        self.shell.shut_down();
    }

    /// Ends the queue in good order: nothing is added any more and what waits is dropped, but what is ready is still handed out.
    /// Returns when the last of it is [`done`](Self::done), or when [`shut_down`](Self::shut_down) is called.
    ///
    /// # Cancel safety
    ///
    /// The queue goes on draining if the future is dropped; calling this again waits for the rest.
    ///
    /// # Differences from Go
    ///
    /// controller-runtime's priority queue drops what is ready and does not wait. client-go's queue returns as soon as no key is
    /// being processed, also if that is the moment between one `Done` and the next `Get`, with keys left; here it returns after
    /// the last one.
    pub async fn shut_down_with_drain(&self) {
        self.shell.shut_down_with_drain().await;
    }

    /// Whether the queue was shut down, or is being drained: keys that are added are ignored.
    pub fn is_shut_down(&self) -> bool {
        self.shell.is_shut_down()
    }

    #[inline]
    fn canonical(&self, key: K) -> K {
        match self.canonical_key {
            Some(canonical) => canonical(key),
            None => key,
        }
    }

    #[inline]
    fn canonical_of<'a>(&self, key: &'a K) -> Cow<'a, K> {
        self.canonical_key.map_or(Cow::Borrowed(key), |canonical| Cow::Owned(canonical(key.clone())))
    }
}

impl<K: Send> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Self { shell: self.shell.clone(), canonical_key: self.canonical_key }
    }
}

impl<K: Send> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

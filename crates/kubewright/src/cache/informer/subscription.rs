//! Those who hear of every change of an informer.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{delta::Delta, told::Told};
use crate::cache::store::Entry;

/// One subscriber's own queue of changes.
///
/// The queue has no bound: a bound would have to lose a change, or make the watch wait for its slowest listener until the API server
/// drops it (kubernetes#136264). Listeners only map objects to requests, which takes microseconds; an item of the queue is two pointers
/// to states that all subscribers share.
#[derive(Debug)]
pub(crate) struct Subscription {
    inbox: Arc<Inbox>,
}

#[derive(Debug)]
struct Inbox {
    /// `None` once the subscription has been dropped.
    deltas: Mutex<Option<VecDeque<Delta>>>,
    arrived: Notify,
    /// Nothing comes any more.
    closed: AtomicBool,
}

impl Subscription {
    /// The next change; waits for one if there is none. `None` after the last one of an informer that has stopped.
    ///
    /// # Cancel safety
    /// A change is taken out only when this returns.
    pub(crate) async fn next(&mut self) -> Option<Delta> {
        loop {
            // The permit of `notify_one` stays until somebody waits: a change between the look and the wait is not slept through.
            if let Some(delta) = self.inbox.take() {
                return Some(delta);
            }
            if self.inbox.closed.load(Ordering::Acquire) {
                return None;
            }
            self.inbox.arrived.notified().await;
        }
    }
}

impl Drop for Subscription {
    /// The informer may hold the inbox for a moment longer, under its lock, where no entry may be dropped: they go now.
    fn drop(&mut self) {
        let unheard = self.inbox.deltas.lock().take();
        drop(unheard);
    }
}

impl Inbox {
    fn new(deltas: VecDeque<Delta>) -> Self {
        Self { deltas: Mutex::new(Some(deltas)), arrived: Notify::new(), closed: AtomicBool::new(false) }
    }

    fn take(&self) -> Option<Delta> {
        let mut deltas = self.deltas.lock();
        let deltas = deltas.as_mut()?;
        let delta = deltas.pop_front();
        if deltas.is_empty() && deltas.capacity() > SPARE_CAPACITY {
            *deltas = VecDeque::new(); // the burst of an initial list does not stay in memory
        }
        delta
    }

    fn put(&self, deltas: impl IntoIterator<Item = Delta>) {
        if let Some(waiting) = self.deltas.lock().as_mut() {
            waiting.extend(deltas);
        }
    }
}

/// All subscribers of an informer. One that was dropped is forgotten at the next change.
///
/// Whoever tells them of changes has to [`wake`](Self::wake) them afterwards, once for all changes that have come together.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    all: Vec<Subscriber>,
    /// They were told of something and have not been woken.
    told: bool,
}

#[derive(Debug)]
struct Subscriber {
    inbox: Weak<Inbox>,
    synced: bool,
}

impl Subscribers {
    /// Tells all that nothing comes any more.
    pub(super) fn close(&mut self) {
        for inbox in self.all.drain(..).filter_map(|subscriber| subscriber.inbox.upgrade()) {
            inbox.closed.store(true, Ordering::Release);
            inbox.arrived.notify_one();
        }
    }

    /// Adds a subscriber, who hears of `present` first. `synced`: that is all there is.
    pub(super) fn join(&mut self, present: impl Iterator<Item = Arc<Entry>>, synced: bool) -> Subscription {
        let present = present.map(|new| Delta::Added { new: Told::new(new), is_in_initial_list: true });
        let inbox = Arc::new(Inbox::new(present.chain(synced.then_some(Delta::Synced)).collect()));
        self.all.push(Subscriber { inbox: Arc::downgrade(&inbox), synced });
        Subscription { inbox }
    }

    pub(super) fn added(&mut self, new: &Arc<Entry>) {
        self.tell(|| {
            let new = Told::new(Arc::clone(new));
            move |synced: bool| Delta::Added { new: Arc::clone(&new), is_in_initial_list: !synced }
        });
    }

    pub(super) fn updated(&mut self, old: &Arc<Entry>, new: &Arc<Entry>) {
        self.tell(|| {
            let (old, new) = (Told::new(Arc::clone(old)), Told::new(Arc::clone(new)));
            move |_| Delta::Updated { old: Arc::clone(&old), new: Arc::clone(&new) }
        });
    }

    pub(super) fn deleted(&mut self, last: &Arc<Entry>, final_state_unknown: bool) {
        self.tell(|| {
            let last = Told::new(Arc::clone(last));
            move |_| Delta::Deleted { last: Arc::clone(&last), final_state_unknown }
        });
    }

    /// The informer's list is complete; those who waited for it hear so, once.
    pub(super) fn synced(&mut self) {
        for subscriber in &mut self.all {
            if !std::mem::replace(&mut subscriber.synced, true)
                && let Some(inbox) = subscriber.inbox.upgrade()
            {
                inbox.put([Delta::Synced]);
                self.told = true;
            }
        }
    }

    /// Wakes those who sleep, if they were told of anything.
    pub(super) fn wake(&mut self) {
        if std::mem::take(&mut self.told) {
            for inbox in self.all.iter().filter_map(|subscriber| subscriber.inbox.upgrade()) {
                inbox.arrived.notify_one();
            }
        }
    }

    /// Tells everybody the same, made once, if anybody listens; it depends on whether the subscriber has heard the whole list.
    fn tell<D: Fn(bool) -> Delta>(&mut self, change: impl FnOnce() -> D) {
        if self.all.is_empty() {
            return;
        }
        let delta = change();
        self.all.retain(|subscriber| {
            let Some(inbox) = subscriber.inbox.upgrade() else { return false };
            inbox.put([delta(subscriber.synced)]);
            self.told = true;
            true
        });
    }
}

const SPARE_CAPACITY: usize = 1024;

//! Those who hear of every change of an informer.

use std::sync::{Arc, Weak};

use super::{delta::Delta, inbox::Inbox, told::Told};
use crate::cache::store::Entry;

/// One subscriber's own queue of changes.
///
/// The queue has no bound: a bound would have to lose a change, or make the watch wait for its slowest listener until the API server
/// drops it (kubernetes#136264). Listeners only map objects to requests, which takes microseconds; an item of the queue is two pointers
/// to states that all subscribers share. What a listener that waits for something may miss is said at [`Inbox`].
#[derive(Debug)]
pub(crate) struct Subscription {
    inbox: Arc<Inbox>,
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
            if self.inbox.is_closed() {
                return None;
            }
            self.inbox.arrived.notified().await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.inbox.abandon();
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
            inbox.close();
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
                inbox.put(Delta::Synced);
                self.told = true;
            }
        }
    }

    /// Wakes those who sleep, if they were told of anything. Gives the inboxes that have become too long, to be [merged](Inbox::merge) by somebody who
    /// holds no lock.
    #[must_use]
    pub(super) fn wake(&mut self) -> Vec<Arc<Inbox>> {
        if !std::mem::take(&mut self.told) {
            return Vec::new();
        }
        let inboxes = self.all.iter().filter_map(|subscriber| subscriber.inbox.upgrade());
        inboxes.inspect(|inbox| inbox.arrived.notify_one()).filter(|inbox| inbox.is_long()).collect()
    }

    /// Tells everybody the same, made once, if anybody listens; it depends on whether the subscriber has heard the whole list.
    fn tell<D: Fn(bool) -> Delta>(&mut self, change: impl FnOnce() -> D) {
        if self.all.is_empty() {
            return;
        }
        let delta = change();
        self.all.retain(|subscriber| {
            let Some(inbox) = subscriber.inbox.upgrade() else { return false };
            inbox.put(delta(subscriber.synced));
            self.told = true;
            true
        });
    }
}

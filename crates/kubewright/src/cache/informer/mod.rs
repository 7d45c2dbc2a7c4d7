//! One kind, followed once for everybody: a reflector fills a store, and every change goes to every subscriber.

mod delta;
mod in_use;
mod inbox;
mod ingest;
#[cfg(test)]
mod listener;
mod progress;
mod quarantine;
#[cfg(test)]
mod random_scripts;
#[cfg(test)]
mod scripts;
mod subscription;
mod told;

use std::{fmt, sync::Arc};

use parking_lot::RwLock;
use prometheus::IntCounter;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

pub(crate) use delta::Delta;
pub(crate) use in_use::InUse;
pub(crate) use progress::{Progress, WaitError};
pub(crate) use subscription::Subscription;
pub(crate) use told::Told;

use self::{in_use::Users, ingest::Ingest, subscription::Subscribers};
use super::{
    metrics::unreadable_objects,
    reflector::{Reflector, Target},
    store::{Entry, Store},
};
use crate::{
    metrics::Registry,
    object::{Kind, ObjectKey},
};

/// The store of one kind, kept up to date by a reflector.
pub(crate) struct Informer {
    target: Target,
    published: Arc<Published>,
    users: Users,
    /// Fires when nobody needs it any more.
    end: CancellationToken,
}

/// What the reflector's task writes and everybody else reads.
pub(crate) struct Published {
    contents: RwLock<Contents>,
    progress: watch::Sender<Progress>,
    /// Somebody wants a kind that the API server has refused.
    wanted: Arc<Notify>,
    /// States of objects that could not be read.
    unreadable: IntCounter,
}

struct Contents {
    store: Store,
    subscribers: Subscribers,
    synced: bool,
}

impl Informer {
    pub(crate) fn new(target: Target, store: Store, metrics: &Registry) -> Self {
        let contents = RwLock::new(Contents { store, subscribers: Subscribers::default(), synced: false });
        let unreadable = unreadable_objects(metrics, &target.kind);
        Self {
            target,
            published: Arc::new(Published {
                contents,
                progress: watch::Sender::default(),
                wanted: Arc::default(),
                unreadable,
            }),
            users: Users::default(),
            end: CancellationToken::new(),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.target.kind
    }

    /// Which objects it follows.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Follows the kind until `cancel` fires, or [`end`](Self::end) is called.
    pub(crate) async fn run(&self, client: kube::Client, cancel: CancellationToken) {
        let reflector = Reflector::new(
            client,
            self.target.clone(),
            fastrand::Rng::new(),
            Arc::clone(&self.published.wanted),
        );
        let mut ingest = Ingest::new(self.kind().clone(), Arc::clone(&self.published));
        // Nothing is left to do for a follower that is stopped in the middle: every change is applied in one step.
        let follow = self.end.run_until_cancelled(reflector.follow(&mut ingest));
        let _stopped = cancel.run_until_cancelled(follow).await;
        self.stop();
    }

    /// Stops following, for good.
    pub(crate) fn end(&self) {
        self.end.cancel();
    }

    /// A kind that the API server has refused is asked for again at once, but not more than once a second.
    pub(crate) fn hurry(&self) {
        self.published.wanted.notify_one();
    }

    /// Tells whoever waits that nothing comes any more.
    pub(crate) fn stop(&self) {
        // In this order, one who subscribes in between finds out, too.
        self.published.progress.send_modify(Progress::stop);
        self.published.contents.write().subscribers.close();
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Arc<Entry>> {
        self.published.contents.read().store.get(key).cloned()
    }

    /// Looks at the entry of `key` without keeping it: who holds a lock must not become the last to hold an entry, which may drop a value of an
    /// author's type.
    pub(crate) fn look<T>(&self, key: &ObjectKey, look: impl FnOnce(Option<&Entry>) -> T) -> T {
        look(self.published.contents.read().store.get(key).map(Arc::as_ref))
    }

    /// A state of an object does not decode.
    pub(crate) fn count_unreadable(&self) {
        self.published.unreadable.inc();
    }

    /// How many objects it has.
    pub(crate) fn len(&self) -> usize {
        self.published.contents.read().store.len()
    }

    /// The objects of one namespace, or all, for which `filter` holds; in no order.
    pub(crate) fn list(&self, namespace: Option<&str>, filter: impl Fn(&Entry) -> bool) -> Vec<Arc<Entry>> {
        let contents = self.published.contents.read();
        contents.store.iter(namespace).filter(|entry| filter(entry)).cloned().collect()
    }

    /// Everything that is in the store now, as additions, then every change. Nothing is missed and nothing comes twice.
    pub(crate) fn subscribe(&self) -> Subscription {
        let mut contents = self.published.contents.write();
        let Contents { store, subscribers, synced } = &mut *contents;
        let subscription = subscribers.join(store.iter(None).cloned(), *synced);
        if self.published.progress.borrow().stopped {
            subscribers.close();
        }
        subscription
    }

    /// The first list is complete, and the informer goes on.
    pub(crate) fn has_synced(&self) -> bool {
        let progress = self.published.progress.borrow();
        progress.synced && !progress.stopped
    }

    /// Waits until `reached` holds; looks again at every step of the reflector.
    pub(crate) async fn wait_until(&self, reached: impl FnMut(&Progress) -> bool) -> Result<(), WaitError> {
        progress::wait(&self.published.progress, reached).await
    }

    /// Where the reflector is.
    pub(crate) fn progress(&self) -> Progress {
        self.published.progress.borrow().clone()
    }
}

impl fmt::Debug for Informer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.published.contents.read().store.len();
        f.debug_struct("Informer")
            .field("kind", self.kind())
            .field("objects", &objects)
            .field("progress", &self.progress())
            .finish_non_exhaustive()
    }
}

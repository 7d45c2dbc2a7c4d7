//! What is read off the objects of one prefix, and never told.

use parking_lot::{Mutex, RwLock};

use super::{state::Snapshot, store::Store};

/// What the objects of a prefix come to, as of one revision of the store.
#[derive(Debug, Default)]
pub(crate) struct Derived<T> {
    known: RwLock<(u64, T)>,
    /// Held by the one that reads the store.
    catching_up: Mutex<()>,
}

impl<T: Clone> Derived<T> {
    /// What no objects come to.
    pub(crate) fn new(of_nothing: T) -> Self {
        Self { known: RwLock::new((0, of_nothing)), catching_up: Mutex::new(()) }
    }

    /// What it was when somebody last caught up.
    pub(crate) fn current(&self) -> T {
        self.known.read().1.clone()
    }

    /// What the objects under `prefix` come to at this moment, or a later one.
    ///
    /// `read` makes it of what it was before and the objects, if they have changed. Once all can see it, `replaced` hears what it was and what
    /// it is; nobody else catches up before that has returned.
    pub(crate) fn caught_up(
        &self,
        store: &Store,
        prefix: &str,
        read: impl FnOnce(&T, &Snapshot) -> T,
        replaced: impl FnOnce(&T, &T),
    ) -> T {
        let newest = store.last_change(prefix);
        let known = || {
            let known = self.known.read();
            (known.0 >= newest).then(|| known.1.clone())
        };
        if let Some(known) = known() {
            return known;
        }
        let _one_at_a_time = self.catching_up.lock();
        if let Some(known) = known() {
            return known;
        }
        let before = self.current();
        let snapshot = store.snapshot(prefix);
        let after = read(&before, &snapshot);
        *self.known.write() = (snapshot.revision, after.clone());
        replaced(&before, &after);
        after
    }
}

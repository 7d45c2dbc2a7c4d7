//! One subscriber's queue of changes that it has not heard yet.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
};

use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::delta::Delta;
use crate::object::ObjectKey;

/// The changes that wait for a subscriber, in order.
///
/// A subscriber that falls behind, as one whose mapper waits for something, would hold every state that there has been since. So when many updates
/// wait, those of one object are merged into one, from the state before the first to the state after the last. A state that names other owners,
/// labels or another generation than the next one is never merged away: somebody may be told of the object only because of it.
#[derive(Debug)]
pub(super) struct Inbox {
    /// `None` once the subscription has been dropped.
    backlog: Mutex<Option<Backlog>>,
    pub(super) arrived: Notify,
    /// Nothing comes any more.
    closed: AtomicBool,
}

#[derive(Debug)]
struct Backlog {
    deltas: VecDeque<Delta>,
    /// How many of them are updates.
    updates: usize,
    /// As many updates are too many.
    too_many: usize,
}

impl Inbox {
    pub(super) fn new(deltas: VecDeque<Delta>) -> Self {
        let backlog = Backlog { deltas, updates: 0, too_many: MANY };
        Self { backlog: Mutex::new(Some(backlog)), arrived: Notify::new(), closed: AtomicBool::new(false) }
    }

    pub(super) fn put(&self, delta: Delta) {
        if let Some(backlog) = self.backlog.lock().as_mut() {
            backlog.updates += usize::from(delta.is_update());
            backlog.deltas.push_back(delta);
        }
    }

    pub(super) fn take(&self) -> Option<Delta> {
        let mut backlog = self.backlog.lock();
        let Backlog { deltas, updates, too_many } = backlog.as_mut()?;
        let delta = deltas.pop_front()?;
        *updates -= usize::from(delta.is_update());
        if deltas.is_empty() && deltas.capacity() > MANY {
            *deltas = VecDeque::new(); // the burst of an initial list does not stay in memory
            *too_many = MANY;
        }
        Some(delta)
    }

    /// Whether so many updates wait that they should be [merged](Self::merge).
    pub(super) fn is_long(&self) -> bool {
        self.backlog.lock().as_ref().is_some_and(|backlog| backlog.updates >= backlog.too_many)
    }

    /// Merges the updates that wait. The states that nobody will hear of are dropped here, after the lock, and so have to be outside of every other
    /// one: they may hold the last value of an author's type.
    pub(super) fn merge(&self) {
        let mut unheard = Vec::new();
        if let Some(backlog) = self.backlog.lock().as_mut() {
            let deltas = std::mem::take(&mut backlog.deltas);
            backlog.deltas = merged(deltas, &mut unheard);
            backlog.updates -= unheard.len();
            // Merging again at twice the length makes an update cost O(1).
            backlog.too_many = MANY.max(backlog.updates * 2);
        }
        drop(unheard);
    }

    /// Nothing is put in or heard any more. What waits is dropped now: whoever holds the inbox for a moment longer may do so under a lock.
    pub(super) fn abandon(&self) {
        let unheard = self.backlog.lock().take();
        drop(unheard);
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.arrived.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

/// The same history with fewer states between. What is left over of each merged update goes to `unheard`.
fn merged(deltas: VecDeque<Delta>, unheard: &mut Vec<Delta>) -> VecDeque<Delta> {
    let mut kept: VecDeque<Delta> = VecDeque::with_capacity(deltas.len());
    // Where the last change of each object is, if a later one may be merged into it.
    let mut last: HashMap<ObjectKey, usize> = HashMap::new();
    for mut delta in deltas {
        let Some(key) = delta.key().cloned() else {
            kept.push_back(delta);
            continue;
        };
        let earlier = last.get(&key).and_then(|index| kept.get_mut(*index));
        if earlier.is_some_and(|earlier| earlier.absorb(&mut delta)) {
            unheard.push(delta);
        } else {
            last.insert(key, kept.len());
            kept.push_back(delta);
        }
    }
    kept
}

/// So many updates a subscriber may be behind before anything is merged.
const MANY: usize = 1024;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cache::{
        informer::Told,
        store::{Applied, Past, Store},
    };

    /// States of objects as a store makes them, with the labels shared.
    struct States {
        store: Store,
        version: u64,
    }

    impl States {
        fn new() -> Self {
            Self { store: Store::new(0, false), version: 0 }
        }

        /// The next state of the object `name`, whose metadata is `more`.
        fn next(&mut self, name: &str, more: &str) -> Arc<Told> {
            self.version += 1;
            let version = self.version;
            let text = format!(
                r#"{{"metadata":{{"name":"{name}","uid":"u","resourceVersion":"{version}"{more}}}}}"#
            );
            match self.store.apply(text.as_bytes(), 0, Past::Refused).unwrap().applied {
                Applied::Added { new } | Applied::Updated { new, .. } => Told::new(new),
                other => panic!("{other:?}"),
            }
        }
    }

    /// What is left of changes that are written as `name:metadata`, with `+` before the name for a creation and `-` for a deletion.
    fn left_of(changes: &[&str]) -> Vec<String> {
        let (mut states, mut before) = (States::new(), HashMap::new());
        let mut change = |change: &&str| {
            if *change == "synced" {
                return Delta::Synced;
            }
            let (name, metadata) = change.split_once(':').unwrap_or((change, ""));
            let bare = name.trim_start_matches(['+', '-']).to_owned();
            let new = states.next(&bare, metadata);
            let old = before.insert(bare, Arc::clone(&new)).unwrap_or_else(|| Arc::clone(&new));
            match name.as_bytes()[0] {
                b'+' => Delta::Added { new, is_in_initial_list: true },
                b'-' => Delta::Deleted { last: new, final_state_unknown: false },
                _ => Delta::Updated { old, new },
            }
        };
        let deltas = changes.iter().map(&mut change).collect();
        merged(deltas, &mut Vec::new()).iter().map(written).collect()
    }

    /// The name and the versions of a change.
    fn written(delta: &Delta) -> String {
        let said = |told: &Told| format!("{} {}", told.key().name(), told.resource_version());
        match delta {
            Delta::Added { new, .. } => format!("+{}", said(new)),
            Delta::Updated { old, new } => format!("{}-{}", said(old), new.resource_version()),
            Delta::Deleted { last, .. } => format!("-{}", said(last)),
            Delta::Synced => "synced".to_owned(),
        }
    }

    #[track_caller]
    fn check(changes: &[&str], left: &[&str]) {
        assert_eq!(left_of(changes), left, "of {changes:?}");
    }

    const A: &str = r#"x:,"labels":{"a":"a"}"#;
    const OWNED: &str = r#"x:,"ownerReferences":[{"name":"o"}]"#;
    const SECOND: &str = r#"x:,"generation":2"#;

    #[test]
    fn merged_updates_go_from_the_first_state_to_the_last() {
        check(&["x", "x", "x"], &["x 1-3"]);
        check(&["x", "y", "x", "y", "x"], &["x 1-5", "y 2-4"]);
    }

    #[test]
    fn an_object_that_was_added_is_added_as_it_is_now_and_still_part_of_the_initial_list() {
        check(&["+x", "synced", "x", "x"], &["+x 3", "synced"]);
    }

    #[test]
    fn a_deletion_and_what_comes_after_it_stay_apart() {
        check(&["x", "x", "-x", "+x", "x"], &["x 1-2", "-x 3", "+x 5"]);
    }

    #[test]
    fn a_state_that_names_somebody_else_is_heard_of() {
        check(&["x", A, "x", "x"], &["x 1-1", "x 1-2", "x 2-4"]);
        check(&["x", OWNED, OWNED, "x"], &["x 1-1", "x 1-3", "x 3-4"]);
        check(&["x", SECOND, SECOND, SECOND], &["x 1-1", "x 1-4"]);
    }
}

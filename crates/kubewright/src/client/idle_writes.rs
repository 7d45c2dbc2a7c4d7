//! Changes that the API server has taken without changing anything.

use std::{hash::BuildHasher, time::Duration};

use hashbrown::{DefaultHashBuilder, HashMap};
use parking_lot::Mutex;
use tokio::time::Instant;

/// Which changes of which objects came back with the version that was there before.
///
/// A quantity in another spelling, a field that the API server puts back to its default, one that its schema does not have: whoever computes such a change computes it
/// again at every run. It is sent once in ten minutes, since the schema, or a webhook, may be another by then.
#[derive(Debug, Default)]
pub(crate) struct IdleWrites {
    by_change: Mutex<HashMap<Change, Instant>>,
    hasher: DefaultHashBuilder,
}

/// The object's uid, and a hash of what should become of it.
type Change = (Box<str>, u64);

impl IdleWrites {
    /// Whether this change of the object with `uid` was idle not long ago. `change` names the state that it starts from, too.
    pub(crate) fn contains(&self, uid: &str, change: &str) -> bool {
        let by_change = self.by_change.lock();
        by_change.get(&self.change(uid, change)).is_some_and(|at| at.elapsed() < KEPT)
    }

    pub(crate) fn insert(&self, uid: &str, change: &str) {
        let mut by_change = self.by_change.lock();
        if by_change.len() >= CAPACITY {
            by_change.retain(|_, at| at.elapsed() < KEPT);
        }
        if by_change.len() >= CAPACITY {
            // Each is sent once more, which changes nothing.
            by_change.clear();
        }
        by_change.insert(self.change(uid, change), Instant::now());
    }

    fn change(&self, uid: &str, change: &str) -> Change {
        (uid.into(), self.hasher.hash_one(change))
    }
}

const KEPT: Duration = Duration::from_secs(600);
const CAPACITY: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_idle_change_is_known_for_a_while() {
        let idle = IdleWrites::default();
        idle.insert("u", "a");
        assert!(idle.contains("u", "a"));
        assert!(!idle.contains("u", "b"));
        assert!(!idle.contains("v", "a"));
        tokio::time::advance(KEPT).await;
        assert!(!idle.contains("u", "a"));
    }

    #[test]
    fn what_is_known_is_bounded() {
        let idle = IdleWrites::default();
        for number in 0..3 * CAPACITY {
            idle.insert("u", &number.to_string());
        }
        assert!(idle.by_change.lock().len() <= CAPACITY);
    }
}

//! Answers that hold for a while.

use std::{collections::HashMap, hash::Hash, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

/// Values that are forgotten after a time, and a bound on how many there are.
#[derive(Debug)]
pub(super) struct Expiring<K, V> {
    entries: Mutex<HashMap<K, (V, Instant)>>,
    capacity: usize,
}

impl<K: Hash + Eq, V: Clone> Expiring<K, V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { entries: Mutex::new(HashMap::new()), capacity }
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        let entries = self.entries.lock();
        entries.get(key).filter(|(_, until)| Instant::now() < *until).map(|(value, _)| value.clone())
    }

    /// Keeps `value` for as long as `ttl` says. Where all places are taken by what still holds, it is not kept.
    pub(super) fn insert(&self, key: K, value: V, ttl: Duration) {
        let (now, mut entries) = (Instant::now(), self.entries.lock());
        if entries.len() >= self.capacity {
            entries.retain(|_, (_, until)| now < *until);
        }
        if entries.len() < self.capacity {
            entries.insert(key, (value, now + ttl));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_has_expired_makes_room() {
        let cache = Expiring::new(2);
        cache.insert("a", 1, Duration::from_secs(10));
        cache.insert("b", 2, Duration::from_secs(60));
        cache.insert("c", 3, Duration::from_secs(60));
        assert_eq!([cache.get(&"a"), cache.get(&"b"), cache.get(&"c")], [Some(1), Some(2), None]);
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(cache.get(&"a"), None);
        cache.insert("c", 3, Duration::from_secs(60));
        assert_eq!([cache.get(&"b"), cache.get(&"c")], [Some(2), Some(3)]);
    }
}

//! Events that differ by their words only, many of which become one.

use std::{
    collections::{VecDeque, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    time::Duration,
};

use lru::LruCache;

use super::MAX_KNOWN;

/// Knows when events that differ by their words only are too many.
///
/// Source: client-go `tools/record.EventAggregator`.
#[derive(Debug)]
pub(super) struct Similar {
    groups: LruCache<String, Group>,
}

#[derive(Debug, Default)]
struct Group {
    /// Hashes of what was said: two that are the same by chance count as one.
    notes: VecDeque<u64>,
    last: Duration,
}

impl Similar {
    pub(super) fn new() -> Self {
        Self { groups: LruCache::new(MAX_KNOWN) }
    }

    /// Whether this one is to be combined with the others of its group.
    pub(super) fn is_combined(&mut self, group: String, note: &str, now: Duration) -> bool {
        let group = self.groups.get_or_insert_mut(group, Group::default);
        if now.saturating_sub(group.last) > INTERVAL {
            group.notes.clear();
        }
        group.last = now;
        let mut hasher = DefaultHasher::new();
        note.hash(&mut hasher);
        let note = hasher.finish();
        if !group.notes.contains(&note) {
            group.notes.push_back(note);
        }
        let combined = group.notes.len() >= MAX_NOTES;
        if combined {
            // It need not grow to know that they are many.
            group.notes.pop_front();
        }
        combined
    }
}

/// Source: client-go `tools/record.defaultAggregateMaxEvents`.
const MAX_NOTES: usize = 10;
/// Source: client-go `tools/record.defaultAggregateIntervalInSeconds`.
const INTERVAL: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;

    fn combined(similar: &mut Similar, notes: std::ops::Range<usize>, seconds: u64) -> Vec<usize> {
        let now = Duration::from_secs(seconds);
        notes.filter(|note| similar.is_combined("a".into(), &note.to_string(), now)).collect()
    }

    #[test]
    fn the_tenth_different_note_is_combined_and_those_after_it() {
        let mut similar = Similar::new();
        assert_eq!(combined(&mut similar, 0..12, 0), [9, 10, 11]);
        assert_eq!(combined(&mut similar, 12..13, 600), [12]);
        assert!(!similar.is_combined("b".into(), "0", Duration::ZERO), "of another group");
    }

    #[test]
    fn the_same_note_is_one_however_often() {
        let mut similar = Similar::new();
        for _ in 0..100 {
            assert_eq!(combined(&mut similar, 0..9, 0), [0; 0]);
        }
    }

    #[test]
    fn after_ten_quiet_minutes_it_starts_anew() {
        let mut similar = Similar::new();
        assert_eq!(combined(&mut similar, 0..10, 0), [9]);
        assert_eq!(combined(&mut similar, 10..20, 601), [19]);
    }
}

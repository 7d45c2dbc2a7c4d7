//! How much one source may say of one object.

use std::time::Duration;

use lru::LruCache;

use super::MAX_KNOWN;

/// A bucket of tokens for each source and object: 25 at first, and one more every five minutes.
///
/// Source: client-go `tools/record.EventSourceObjectSpamFilter`.
#[derive(Debug)]
pub(super) struct SpamFilter {
    buckets: LruCache<String, Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// When it will be full again, if nothing more is taken.
    full_at: Duration,
}

impl SpamFilter {
    pub(super) fn new() -> Self {
        Self { buckets: LruCache::new(MAX_KNOWN) }
    }

    /// Takes a token, if there is one.
    pub(super) fn allows(&mut self, source: String, now: Duration) -> bool {
        let bucket = self.buckets.get_or_insert_mut(source, || Bucket { full_at: now });
        let full_at = bucket.full_at.max(now) + REFILL;
        let allows = full_at <= now + REFILL * BURST;
        if allows {
            bucket.full_at = full_at;
        }
        allows
    }
}

/// Source: client-go `tools/record.defaultSpamBurst`.
const BURST: u32 = 25;
/// Source: client-go `tools/record.defaultSpamQPS`.
const REFILL: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_may_say_25_things_of_an_object_and_then_one_every_five_minutes() {
        let mut filter = SpamFilter::new();
        let mut allowed = |source: &str, seconds, tries: usize| {
            let now = Duration::from_secs(seconds);
            (0..tries).filter(|_| filter.allows(source.to_owned(), now)).count()
        };
        assert_eq!(allowed("a", 1000, 100), 25);
        assert_eq!(allowed("b", 1000, 100), 25, "each has its own");
        assert_eq!(allowed("a", 1299, 100), 0);
        assert_eq!(allowed("a", 1300, 100), 1);
        assert_eq!(allowed("a", 2200, 100), 3);
        assert_eq!(allowed("a", 1_000_000, 100), 25);
    }

    #[test]
    fn what_was_not_heard_of_for_long_is_forgotten_first() {
        let mut filter = SpamFilter::new();
        for source in 0..=MAX_KNOWN.get() {
            assert!(filter.allows(source.to_string(), Duration::ZERO));
        }
        assert_eq!(filter.buckets.len(), MAX_KNOWN.get());
        assert!(!filter.buckets.contains("0") && filter.buckets.contains("1"));
    }
}

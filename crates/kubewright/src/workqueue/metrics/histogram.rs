//! A histogram of durations with upstream's buckets.

use std::time::Duration;

/// Counts durations in buckets that end at 10 ns, 100 ns, … 1000 s, and beyond.
///
/// Source: controller-runtime `pkg/internal/metrics/workqueue.go`, `ExponentialBuckets(1e-8, 10, 12)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram {
    counts: [u64; BUCKETS + 1],
    sum_nanoseconds: u128,
}

impl DurationHistogram {
    pub(super) fn observe(&mut self, nanoseconds: u64) {
        self.counts[bucket(nanoseconds)] += 1;
        self.sum_nanoseconds += u128::from(nanoseconds);
    }

    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All of them together.
    pub fn sum(&self) -> Duration {
        const SECOND: u128 = 1_000_000_000;
        let seconds = u64::try_from(self.sum_nanoseconds / SECOND).unwrap_or(u64::MAX);
        let nanoseconds = u32::try_from(self.sum_nanoseconds % SECOND).unwrap_or_default();
        Duration::new(seconds, nanoseconds)
    }

    /// For each bucket its upper bound, which belongs to it, and how many durations do not exceed that bound.
    pub fn cumulative(&self) -> impl Iterator<Item = (Duration, u64)> {
        let mut below = 0;
        self.counts.iter().zip(bounds()).map(move |(count, bound)| {
            below += count;
            (bound, below)
        })
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, other)| *count += other);
        self.sum_nanoseconds += other.sum_nanoseconds;
    }
}

/// The upper bounds: powers of ten, so that the number of digits finds the bucket.
fn bounds() -> impl Iterator<Item = Duration> {
    (1..).map(|digits| Duration::from_nanos(10_u64.pow(digits))).take(BUCKETS)
}

fn bucket(nanoseconds: u64) -> usize {
    // A bound belongs to the bucket that it closes: 10 is counted with 9, and 11 with 100.
    let digits = nanoseconds.saturating_sub(1).checked_ilog10().unwrap_or(0) as usize;
    digits.min(BUCKETS)
}

const BUCKETS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_upstreams() {
        let bounds: Vec<f64> = bounds().map(|bound| bound.as_secs_f64()).collect();
        let upstream: Vec<f64> = (0..12).map(|exponent| 1e-8 * 10_f64.powi(exponent)).collect();
        for (ours, theirs) in bounds.iter().zip(&upstream) {
            assert!((ours / theirs - 1.0).abs() < 1e-9, "{ours} is not {theirs}");
        }
        assert_eq!(bounds.len(), upstream.len());
    }

    #[test]
    fn bound_belongs_to_the_bucket_it_closes() {
        for (nanoseconds, expected) in [
            (0, 0),
            (1, 0),
            (10, 0),
            (11, 1),
            (100, 1),
            (101, 2),
            (1_000_000_000, 8),
            (1_000_000_000_000, 11),
            (1_000_000_000_001, 12),
            (u64::MAX, 12),
        ] {
            assert_eq!(bucket(nanoseconds), expected, "{nanoseconds} ns");
        }
    }

    #[test]
    fn counts_accumulate() {
        let mut histogram = DurationHistogram::default();
        histogram.observe(5_000_000);
        histogram.observe(5_000_000_000);
        let mut other = DurationHistogram::default();
        other.observe(5_000_000_000_000);
        histogram.merge(&other);

        assert_eq!(histogram.count(), 3);
        assert_eq!(histogram.sum(), Duration::from_millis(5_005_005));
        let cumulative: Vec<_> = histogram.cumulative().collect();
        assert_eq!(cumulative[5], (Duration::from_millis(1), 0));
        assert_eq!(cumulative[6], (Duration::from_millis(10), 1));
        assert_eq!(cumulative[11], (Duration::from_secs(1000), 2), "the rest is beyond the last bound");
    }
}

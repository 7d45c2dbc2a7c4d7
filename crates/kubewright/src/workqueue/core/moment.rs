//! A point in time as the core keeps it: eight bytes, ordered, and never overflowing.

use std::time::Duration;

use tokio::time::Instant;

/// Nanoseconds since the epoch of a [`Clock`]. The far end, 584 years on, means "never".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::workqueue) struct Moment(u64);

impl Moment {
    /// The epoch itself.
    pub(in crate::workqueue) const START: Self = Self(0);

    /// The moment `after` from here; whatever is too far away becomes "never".
    #[inline]
    pub(in crate::workqueue) fn saturating_add(self, after: Duration) -> Self {
        Self(self.0.saturating_add(nanoseconds(after)))
    }

    /// How long ago `earlier` was; zero if it has not come yet.
    #[inline]
    pub(in crate::workqueue) fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanoseconds_since(earlier))
    }

    /// The same as a plain number, for what is counted at each hand-out.
    #[inline]
    pub(in crate::workqueue) fn nanoseconds_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Translates between the runtime's instants and moments, and never runs backwards.
///
/// Callers read the time before they hold the lock, so two of them may arrive in the other order. The queue's order of
/// "becoming ready" is the order of arrival; time follows it.
#[derive(Debug)]
pub(in crate::workqueue) struct Clock {
    epoch: Instant,
    now: Moment,
}

impl Clock {
    pub(in crate::workqueue) fn new(epoch: Instant) -> Self {
        Self { epoch, now: Moment::START }
    }

    /// Moves on to `now` unless the clock is already past it, and tells the time.
    #[inline]
    pub(in crate::workqueue) fn advance(&mut self, now: Instant) -> Moment {
        let elapsed = now.saturating_duration_since(self.epoch);
        self.now = self.now.max(Moment::START.saturating_add(elapsed));
        self.now
    }

    /// The time when it was last told.
    #[inline]
    pub(in crate::workqueue) fn now(&self) -> Moment {
        self.now
    }

    /// The instant of a moment, or `None` if no instant lies that far ahead.
    #[inline]
    pub(in crate::workqueue) fn instant(&self, moment: Moment) -> Option<Instant> {
        self.epoch.checked_add(moment.saturating_since(Moment::START))
    }
}

#[inline]
fn nanoseconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_future_is_never_and_not_a_panic() {
        let clock = Clock::new(Instant::now());
        let never = Moment::START.saturating_add(Duration::MAX);

        assert_eq!(never, Moment(u64::MAX));
        assert_eq!(never.saturating_add(Duration::from_secs(1)), never);
        assert_eq!(Moment::START.saturating_since(never), Duration::ZERO);
        // Whether the platform can express that instant is its own affair; asking must not panic.
        let _ = clock.instant(never);
    }

    #[test]
    fn clock_never_runs_backwards() {
        let epoch = Instant::now();
        let mut clock = Clock::new(epoch);
        let later = clock.advance(epoch + Duration::from_secs(2));

        assert_eq!(clock.advance(epoch + Duration::from_secs(1)), later);
        assert_eq!(clock.instant(later), Some(epoch + Duration::from_secs(2)));
    }
}

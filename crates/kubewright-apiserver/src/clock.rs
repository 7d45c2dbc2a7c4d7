//! Wall time as it goes on the wire, and how it is injected.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Tells the wall time for `creationTimestamp`, `deletionTimestamp` and the like.
///
/// Waiting is not its business: timers run on `tokio::time`.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The time of the machine. The default.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A time that starts at a given moment and passes as `tokio::time` does.
///
/// On a paused runtime it moves by exactly what the test advances, so that a run writes the same timestamps each
/// time.
#[derive(Debug, Clone, Copy)]
pub struct VirtualClock {
    epoch: Timestamp,
    started: Option<Instant>,
}

impl VirtualClock {
    /// A clock that says `epoch` now.
    pub fn starting_at(epoch: Timestamp) -> Self {
        // Outside a runtime there is no virtual time to follow, and the clock stands still.
        let started = tokio::runtime::Handle::try_current().is_ok().then(Instant::now);
        Self { epoch, started }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let passed = self.started.map(|started| started.elapsed()).unwrap_or_default();
        let passed = SignedDuration::try_from(passed).unwrap_or(SignedDuration::MAX);
        self.epoch.saturating_add(passed).unwrap_or(Timestamp::MAX)
    }
}

/// `time` as `metav1.Time` writes it: UTC, whole seconds.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn virtual_clock_follows_tokio_time() {
        let clock = VirtualClock::starting_at(Timestamp::UNIX_EPOCH);
        tokio::time::advance(Duration::from_millis(61_500)).await;
        assert_eq!(rfc3339(clock.now()), "1970-01-01T00:01:01Z");
    }
}

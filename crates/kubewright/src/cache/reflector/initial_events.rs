//! How long a streaming list may go on without saying that it is complete.

use std::time::Duration;

use tokio::time::Instant;

/// The time that a streaming list has left.
///
/// A server that ignores `sendInitialEvents` sends what exists and then every change, and never says that the list is complete. If the kind is busy, it is
/// never silent either. So only an object that is new to the list buys time, and not much: changes of what was listed buy none, and a kind in which a
/// few objects a second come to life does not hold up the list for ever. A list that is really as slow as that is read in pages instead.
#[derive(Debug)]
pub(crate) struct InitialEvents {
    ends_at: Instant,
}

impl InitialEvents {
    pub(crate) fn begin(now: Instant) -> Self {
        Self { ends_at: now + STALL_LIMIT }
    }

    /// An object came that had not come before.
    pub(crate) fn progressed(&mut self, now: Instant) {
        self.ends_at = (self.ends_at + PER_OBJECT).min(now + STALL_LIMIT);
    }

    pub(crate) fn ends_at(&self) -> Instant {
        self.ends_at
    }
}

/// A streaming list that has sent nothing for this long comes from a server that does not know how to end one.
const STALL_LIMIT: Duration = Duration::from_secs(10);
/// Real lists come at thousands of objects a second.
const PER_OBJECT: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    /// How long a list lasts in which an object comes every `interval`, if it lasts no longer than an hour.
    fn lasts(interval: Duration) -> Duration {
        let start = Instant::now();
        let mut now = start;
        let mut events = InitialEvents::begin(start);
        while events.ends_at() > now && now < start + Duration::from_secs(3600) {
            now += interval;
            events.progressed(now);
        }
        now - start
    }

    #[test]
    fn lists_go_on_and_chatter_does_not() {
        assert!(lasts(Duration::from_millis(5)) >= Duration::from_secs(3600));
        assert!(lasts(Duration::from_millis(100)) < Duration::from_secs(12));
        let events = InitialEvents::begin(Instant::now());
        assert!(events.ends_at() <= Instant::now() + STALL_LIMIT, "silence is bounded");
    }
}

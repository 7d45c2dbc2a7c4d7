//! Which event has which version. Nothing is recorded: the history is a pattern.

/// Every object was created, one after the other; then, in each round, every object changes, one after the other. Each of these events has the
/// next version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct History {
    objects: usize,
    rounds: usize,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) index: usize,
    pub(super) version: u64,
}

impl History {
    /// All objects exist, and nothing has changed.
    pub(super) fn new(objects: usize) -> Self {
        Self { objects, rounds: 0 }
    }

    /// Every object changes.
    pub(super) fn next_round(&mut self) {
        self.rounds += 1;
    }

    /// The version of the last event.
    pub(super) fn version(self) -> u64 {
        FIRST_VERSION + (self.objects * (self.rounds + 1)) as u64 - 1
    }

    /// The version of the object at `index` as it is now.
    pub(super) fn version_of(self, index: usize) -> u64 {
        FIRST_VERSION + (self.objects * self.rounds + index) as u64
    }

    /// The first event after `version`; `None` if it has not happened yet.
    pub(super) fn after(self, version: u64) -> Option<Happened> {
        let version = (version + 1).max(FIRST_VERSION);
        let position = usize::try_from(version - FIRST_VERSION).ok()?;
        (version <= self.version()).then(|| Happened { index: position % self.objects, version })
    }
}

/// As in a cluster that has lived for a while; it also keeps all versions at one length.
const FIRST_VERSION: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_has_one_event_in_each_round_and_versions_rise_by_one() {
        let mut history = History::new(3);
        let listed = history.version();
        assert_eq!(history.after(listed), None);
        history.next_round();
        history.next_round();
        let events: Vec<_> =
            std::iter::successors(history.after(listed), |event| history.after(event.version)).collect();
        assert_eq!(events.iter().map(|event| event.index).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        assert!(events.iter().zip(listed + 1..).all(|(event, version)| event.version == version));
        assert_eq!(events[5].version, history.version());
        assert_eq!((0..3).map(|index| history.version_of(index)).max(), Some(history.version()));
        assert_eq!(history.version_of(1), events[4].version);
    }

    #[test]
    fn who_has_seen_nothing_begins_at_the_beginning() {
        assert_eq!(History::new(3).after(0), Some(Happened { index: 0, version: FIRST_VERSION }));
    }
}

//! What happened under one prefix, in order, as far back as the log reaches.

use std::collections::VecDeque;

use super::{document::Document, state::Key};

/// One write.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) revision: u64,
    pub(crate) key: Key,
    pub(crate) change: Change,
}

/// What a write did. `old` is what was stored; `gone` is the same object, saying the revision of its deletion.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Created { new: Document },
    Updated { old: Document, new: Document },
    Deleted { old: Document, gone: Document },
}

/// A bounded queue of events in the order of their revisions.
#[derive(Debug)]
pub(super) struct Log {
    events: VecDeque<Event>,
    capacity: usize,
    forgotten: u64,
}

impl Log {
    pub(super) fn new(capacity: usize, forgotten: u64) -> Self {
        Self { events: VecDeque::new(), capacity, forgotten }
    }

    /// The revision of the newest event that is no longer here; 0 while all are.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    pub(super) fn push(&mut self, event: Event) {
        self.events.push_back(event);
        while self.events.len() > self.capacity {
            self.forget_first();
        }
    }

    pub(super) fn clear(&mut self) {
        while !self.events.is_empty() {
            self.forget_first();
        }
    }

    /// The events after `revision`, oldest first.
    pub(super) fn after(&self, revision: u64) -> impl DoubleEndedIterator<Item = &Event> {
        let first = self.events.partition_point(|event| event.revision <= revision);
        self.events.range(first..)
    }

    fn forget_first(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.forgotten = event.revision;
        }
    }
}

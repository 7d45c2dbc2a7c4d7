//! What happened under one prefix, in order, as far back as the log reaches.

use std::sync::Arc;

use imbl::Vector;

use super::state::Key;
use crate::object::Document;

/// One write.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) revision: u64,
    pub(crate) key: Key,
    pub(crate) change: Change,
}

/// What a write did. `old` is what was stored until then.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Created { new: Document },
    Updated { old: Document, new: Document },
    Deleted { old: Document },
}

impl Event {
    /// How many bytes are kept for the sake of the log.
    ///
    /// That is the state before the write. The one after it is stored, or is the state before a later write.
    fn cost(&self) -> usize {
        const FRAME: usize = 256;
        match &self.change {
            Change::Created { .. } => FRAME,
            Change::Updated { old, .. } | Change::Deleted { old } => FRAME + old.bytes().len(),
        }
    }
}

/// A bounded queue of events in the order of their revisions. A clone shares them.
#[derive(Debug, Clone)]
pub(super) struct Log {
    events: Vector<Arc<Event>>,
    forgotten: u64,
    bytes: usize,
}

impl Log {
    /// A log whose events up to `forgotten` are no longer here.
    pub(super) fn new(forgotten: u64) -> Self {
        Self { events: Vector::new(), forgotten, bytes: 0 }
    }

    /// The revision of the newest event that is no longer here; 0 while all are.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// How many bytes are kept for the sake of the log.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The revision of the oldest event that is here.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.events.front().map(|event| event.revision)
    }

    pub(super) fn push(&mut self, event: Event) {
        self.bytes += event.cost();
        self.events.push_back(Arc::new(event));
    }

    /// Forgets the oldest event.
    pub(super) fn forget_first(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.bytes -= event.cost();
            self.forgotten = event.revision;
        }
    }

    /// Forgets the events up to `revision`.
    pub(super) fn forget_until(&mut self, revision: u64) {
        while self.oldest().is_some_and(|oldest| oldest <= revision) {
            self.forget_first();
        }
    }

    /// Up to `limit` events after `revision`, oldest first.
    pub(super) fn after(&self, revision: u64, limit: usize) -> Vec<Arc<Event>> {
        let first = self.position_after(revision);
        let last = self.events.len().min(first.saturating_add(limit));
        (first..last).filter_map(|index| self.events.get(index)).cloned().collect()
    }

    /// The events after `revision`, newest first.
    pub(super) fn back_to(mut self, revision: u64) -> impl Iterator<Item = Arc<Event>> {
        let first = self.position_after(revision);
        self.events.split_off(first).into_iter().rev()
    }

    fn position_after(&self, revision: u64) -> usize {
        match self.events.binary_search_by(|event| event.revision.cmp(&revision)) {
            Ok(index) => index + 1,
            Err(index) => index,
        }
    }
}

//! Whether this process leads right now.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The fence of leader-only work: asked right before a write, it says whether this process still leads.
///
/// It goes by the clock and not by what the elector has noticed: a process that wakes from a pause is refused even before its elector has run.
/// Cheap to clone; the clones see one leadership.
///
/// # Differences from Go
/// client-go has no fencing. Neither is this one complete: a write that was sent in time may be carried out late. What must exclude that stamps
/// its writes with the number that [`check`](Self::check) returns, and has the receiver refuse smaller ones.
#[derive(Clone, Debug, Default)]
pub struct Leadership {
    term: Arc<Mutex<Option<Term>>>,
}

#[derive(Clone, Copy, Debug)]
struct Term {
    deadline: Instant,
    transitions: i32,
}

impl Leadership {
    /// The number of this leadership, `leaseTransitions`: it grows whenever another process becomes the leader.
    ///
    /// # Errors
    /// This process does not lead, or cannot be sure that it does.
    pub fn check(&self) -> Result<i32, NotLeading> {
        let term = *self.term.lock();
        term.filter(|term| Instant::now() < term.deadline).map(|term| term.transitions).ok_or(NotLeading)
    }

    /// Until when this process leads, unless it renews. `None` if it does not lead. What takes long is bounded by it.
    pub fn deadline(&self) -> Option<Instant> {
        let term = *self.term.lock();
        term.map(|term| term.deadline).filter(|deadline| Instant::now() < *deadline)
    }

    /// This process leads as far as its elector knows, but the clock says that it may not any more.
    pub(crate) fn is_overdue(&self) -> bool {
        self.term.lock().is_some_and(|term| term.deadline <= Instant::now())
    }

    pub(super) fn extend(&self, deadline: Instant, transitions: i32) {
        *self.term.lock() = Some(Term { deadline, transitions });
    }

    pub(super) fn end(&self) {
        *self.term.lock() = None;
    }
}

/// This process must not do what only a leader may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this process does not lead")]
pub struct NotLeading;

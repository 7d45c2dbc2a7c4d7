//! Tasks that wait for something, first come, first served.

use std::collections::BTreeMap;
use std::task::Waker;

/// The place of one task in a line, kept while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// Waiting tasks by ticket. A task that has been called, and has not come back yet, is counted but not in line.
#[derive(Debug, Default)]
pub(super) struct WaitLine {
    waiting: BTreeMap<Ticket, Waker>,
    called: usize,
    next: u64,
}

impl WaitLine {
    /// Lets a task wait, at its old place if it has one.
    pub(super) fn join(&mut self, ticket: Option<Ticket>, waker: &Waker) -> Ticket {
        let ticket = ticket.unwrap_or_else(|| {
            self.next += 1;
            Ticket(self.next)
        });
        self.waiting.insert(ticket, waker.clone());
        ticket
    }

    /// Lets a task that joined before leave: to look whether there is something for it, or for good.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        if self.waiting.remove(&ticket).is_none() {
            self.called -= 1;
        }
    }

    /// Calls the first task in line.
    #[inline]
    pub(super) fn call_first(&mut self) -> Option<Waker> {
        let (_, waker) = self.waiting.pop_first()?;
        self.called += 1;
        Some(waker)
    }

    /// Calls one task out of line; `None` if it has been called already.
    pub(super) fn call(&mut self, ticket: Ticket) -> Option<Waker> {
        let waker = self.waiting.remove(&ticket)?;
        self.called += 1;
        Some(waker)
    }

    /// Whether a task stands in line.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many tasks have been called and not come back yet.
    #[inline]
    pub(super) fn called(&self) -> usize {
        self.called
    }
}

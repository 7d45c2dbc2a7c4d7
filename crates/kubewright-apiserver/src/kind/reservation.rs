//! What a write has taken before it is known whether it succeeds.

use std::fmt;

/// What one write has taken. Dropped, it gives everything back, as if the write had never been tried.
#[derive(Debug)]
#[must_use = "dropping a reservation gives back what it has taken"]
pub(crate) struct Reservation(Option<Box<dyn Held>>);

/// Something that is held for a write, and gives itself back when it is dropped.
pub(super) trait Held: fmt::Debug + Send {
    /// The write has succeeded: what was taken stays taken.
    fn keep(self: Box<Self>);
}

impl Reservation {
    /// The one of what needs nothing.
    pub(crate) fn nothing() -> Self {
        Self(None)
    }

    pub(super) fn of(held: impl Held + 'static) -> Self {
        Self(Some(Box::new(held)))
    }

    /// The object was stored.
    pub(crate) fn keep(self) {
        if let Some(held) = self.0 {
            held.keep();
        }
    }
}

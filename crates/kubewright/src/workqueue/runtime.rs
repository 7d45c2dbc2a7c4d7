//! What the queue's shell needs from the world: a lock, a clock and a sleep.
//!
//! The protocol of [`shell`](super::shell) is generic over them, so that the tests can run it, as it is, under a scheduler
//! that explores interleavings.

use std::future::Future;

use tokio::time::Instant;

/// The world of a queue.
pub(super) trait Runtime: Send + Sync + 'static {
    type Lock<T: Send>: Lock<T>;
    type Sleep: Future<Output = ()> + Send;

    fn now(&self) -> Instant;

    fn sleep_until(&self, deadline: Instant) -> Self::Sleep;
}

/// A mutex whose guard cannot live across an await.
pub(super) trait Lock<T>: Send + Sync {
    fn new(value: T) -> Self;

    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;

    /// Does nothing if somebody has the lock.
    fn try_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R>;
}

/// The world outside of tests.
#[derive(Debug)]
pub(super) struct Tokio;

impl Runtime for Tokio {
    type Lock<T: Send> = parking_lot::Mutex<T>;
    type Sleep = tokio::time::Sleep;

    #[inline]
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, deadline: Instant) -> Self::Sleep {
        tokio::time::sleep_until(deadline)
    }
}

impl<T: Send> Lock<T> for parking_lot::Mutex<T> {
    fn new(value: T) -> Self {
        parking_lot::Mutex::new(value)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock())
    }

    #[inline]
    fn try_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.try_lock().map(|mut value| f(&mut value))
    }
}

//! Counts reconciles, and tells when there were enough.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use tokio::sync::Notify;

/// How many reconciles there have been, and how many there have to be.
#[derive(Debug, Default)]
pub(super) struct Reconciles {
    ended: AtomicUsize,
    expected: AtomicUsize,
    reached: Notify,
}

impl Reconciles {
    /// Expects `more` reconciles.
    ///
    /// # Errors
    /// If there are more or fewer by now than were expected: somebody reconciled something twice, and the figures would be of other work.
    pub(super) fn expect(&self, more: usize) -> Result<()> {
        let (ended, expected) = (self.ended.load(Ordering::SeqCst), self.expected.load(Ordering::SeqCst));
        ensure!(ended == expected, "{ended} reconciles instead of {expected}");
        self.expected.store(expected + more, Ordering::SeqCst);
        Ok(())
    }

    /// One more has ended.
    pub(super) fn count(&self) {
        if self.ended.fetch_add(1, Ordering::SeqCst) + 1 == self.expected.load(Ordering::SeqCst) {
            self.reached.notify_one();
        }
    }

    /// Waits for the last of the expected ones; one caller for each [`expect`](Self::expect).
    pub(super) async fn reached(&self) {
        self.reached.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_expected_one_is_told_and_one_more_is_an_error() {
        let reconciles = Reconciles::default();
        reconciles.expect(2).unwrap();
        reconciles.count();
        assert!(reconciles.expect(1).is_err());
        reconciles.count();
        reconciles.reached().await;
        reconciles.expect(1).unwrap();
        reconciles.count();
        reconciles.reached().await;
        reconciles.count();
        assert_eq!(reconciles.expect(1).unwrap_err().to_string(), "4 reconciles instead of 3");
    }
}

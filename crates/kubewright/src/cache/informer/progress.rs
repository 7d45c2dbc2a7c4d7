//! How far an informer has come, for those who wait for it.

use tokio::sync::watch;

use crate::cache::ListWatchError;

/// Where an informer's reflector is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// The first list is complete.
    pub(crate) synced: bool,
    /// Everything up to this version is in the store.
    pub(crate) version: u64,
    /// How often the API server has gone back in time, as after a restore from a backup. What was written before may not exist any more.
    pub(crate) restores: u64,
    /// Why the reflector is waiting to try again, if it is.
    pub(crate) failure: Option<ListWatchError>,
    /// The failure is the API server's definite answer: the kind is not installed, or a permission is missing.
    pub(crate) refused: bool,
    /// Nothing will come any more.
    pub(crate) stopped: bool,
}

/// Nothing will come any more.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the informer has stopped")]
pub(crate) struct WaitError;

impl Progress {
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// The reflector waits to try again.
    pub(super) fn fail(&mut self, failure: ListWatchError, refused: bool) {
        self.failure = Some(failure);
        self.refused = refused;
    }

    /// Why nothing comes before somebody mends the cluster, if so.
    pub(crate) fn refusal(&self) -> Option<&ListWatchError> {
        self.failure.as_ref().filter(|_| self.refused)
    }

    /// The store has reached `version`, and the connection works.
    pub(super) fn reach(&mut self, version: u64) {
        self.version = self.version.max(version);
        self.failure = None;
        self.refused = false;
    }

    /// A list is complete: its version counts, even if the API server went back in time.
    pub(super) fn sync(&mut self, version: u64, went_back: bool) {
        self.version = version;
        self.restores += u64::from(went_back);
        self.synced = true;
        self.failure = None;
        self.refused = false;
    }
}

/// Waits until `reached` holds. It may be an author's code, so it is called without a lock.
pub(super) async fn wait(
    progress: &watch::Sender<Progress>,
    mut reached: impl FnMut(&Progress) -> bool,
) -> Result<(), WaitError> {
    let mut receiver = progress.subscribe();
    loop {
        let now = receiver.borrow_and_update().clone();
        if now.stopped {
            return Err(WaitError);
        }
        if reached(&now) {
            return Ok(());
        }
        receiver.changed().await.map_err(|_| WaitError)?;
    }
}

//! What the writes of the running reconcile did.

use std::cell::Cell;

tokio::task_local! {
    static WRITES: Cell<WritesOfTask>;
}

/// What the writes of one reconcile did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WritesOfTask {
    /// How many changed what the API server had.
    pub(crate) changed: u32,
    /// How many were answered without all that they had sent: the next run will want the same again.
    pub(crate) lacking: u32,
}

/// Runs `future` and gives, beside its output, what the writes in it did.
pub(crate) async fn count_changes<T>(future: impl Future<Output = T>) -> (T, WritesOfTask) {
    WRITES
        .scope(Cell::default(), async {
            let output = future.await;
            (output, WRITES.with(Cell::get))
        })
        .await
}

/// Takes note of a write; does nothing outside of a reconcile.
pub(super) fn note(changed: bool, lacking: bool) {
    // The error says that nobody counts.
    let _ = WRITES.try_with(|writes| {
        let WritesOfTask { changed: changes, lacking: lacks } = writes.get();
        writes.set(WritesOfTask {
            changed: changes.saturating_add(changed.into()),
            lacking: lacks.saturating_add(lacking.into()),
        });
    });
}

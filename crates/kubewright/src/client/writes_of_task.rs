//! How many writes of the running reconcile changed something.

use std::cell::Cell;

tokio::task_local! {
    static CHANGES: Cell<u32>;
}

/// Runs `future` and gives, beside its output, how many writes in it changed what the API server had.
pub(crate) async fn count_changes<T>(future: impl Future<Output = T>) -> (T, u32) {
    CHANGES
        .scope(Cell::new(0), async {
            let output = future.await;
            (output, CHANGES.with(Cell::get))
        })
        .await
}

/// Takes note of a write that changed something; does nothing outside of a reconcile.
pub(super) fn note_change() {
    // The error says that nobody counts.
    let _ = CHANGES.try_with(|changes| changes.set(changes.get().saturating_add(1)));
}

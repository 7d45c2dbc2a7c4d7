//! What the writes of the running reconcile did.

use std::cell::RefCell;

tokio::task_local! {
    static WRITES: RefCell<WritesOfTask>;
}

/// What the writes of one reconcile did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WritesOfTask {
    /// Something that the API server had was changed.
    pub(crate) changed: bool,
    /// The first field that an answer lacked although it had been sent: the next run will want the same again.
    pub(crate) lacking: Option<String>,
}

/// Runs `future` and gives, beside its output, what the writes in it did.
pub(crate) async fn observe_writes<T>(future: impl Future<Output = T>) -> (T, WritesOfTask) {
    WRITES
        .scope(RefCell::default(), async {
            let output = future.await;
            (output, WRITES.with(RefCell::take))
        })
        .await
}

/// Takes note of a write; does nothing outside of a reconcile.
pub(super) fn note(changed: bool, lacking: Option<String>) {
    // The error says that nobody observes.
    let _ = WRITES.try_with(|writes| {
        let mut writes = writes.borrow_mut();
        writes.changed |= changed;
        if writes.lacking.is_none() {
            writes.lacking = lacking;
        }
    });
}

//! An informer that somebody uses.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::Informer;

/// An informer that goes on at least until this is dropped, unless its cache stops.
#[derive(Debug)]
pub(crate) struct InUse {
    informer: Arc<Informer>,
}

/// How many use an informer.
#[derive(Debug, Default)]
pub(super) struct Users(AtomicUsize);

impl InUse {
    /// Only for an informer that cannot be ended at this moment: under the lock of those who end informers, or while another use lasts.
    pub(in crate::cache) fn new(informer: Arc<Informer>) -> Self {
        informer.users.0.fetch_add(1, Ordering::Relaxed);
        Self { informer }
    }
}

impl Informer {
    /// Whether anybody uses it. Under the lock that [`InUse::new`] needs, nobody begins to meanwhile.
    pub(in crate::cache) fn is_in_use(&self) -> bool {
        self.users.0.load(Ordering::Acquire) > 0
    }
}

impl Clone for InUse {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.informer))
    }
}

impl Deref for InUse {
    type Target = Informer;

    fn deref(&self) -> &Informer {
        &self.informer
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.informer.users.0.fetch_sub(1, Ordering::Release);
    }
}

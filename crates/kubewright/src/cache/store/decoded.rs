//! Decoded objects that are kept, under a budget of bytes for each informer.

use std::{
    any::Any,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// How many bytes of decoded objects one informer keeps.
///
/// Whoever reads first is kept until the object changes or goes; once the budget is used up, further objects are decoded at each read.
#[derive(Debug)]
pub(crate) struct Budget {
    free: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { free: AtomicUsize::new(bytes) })
    }

    fn take(self: &Arc<Self>, bytes: usize) -> Option<Charge> {
        self.free
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(bytes))
            .ok()
            .map(|_| Charge { budget: Arc::clone(self), bytes })
    }
}

/// The place for one object's decoded value: the first type that was asked for stays.
#[derive(Debug)]
pub(crate) struct Decoded {
    slot: OnceLock<Box<Kept>>,
}

impl Decoded {
    pub(crate) fn empty() -> Self {
        Self { slot: OnceLock::new() }
    }

    pub(crate) fn get<K: Send + Sync + 'static>(&self) -> Option<Arc<K>> {
        Arc::clone(&self.slot.get()?.value).downcast().ok()
    }

    /// Keeps `value` if the budget allows; `text_len` is the length of the JSON that it came from.
    pub(crate) fn offer<K: Send + Sync + 'static>(
        &self,
        value: &Arc<K>,
        text_len: usize,
        budget: &Arc<Budget>,
    ) {
        if self.slot.get().is_none()
            && let Some(charge) = budget.take(size_of::<K>() + text_len.saturating_mul(HEAP_PER_JSON_BYTE))
        {
            // Another reader may have been faster: its value stays, and this charge goes back.
            let _ = self.slot.set(Box::new(Kept { value: Arc::clone(value) as _, charge }));
        }
    }
}

struct Kept {
    value: Arc<dyn Any + Send + Sync>,
    charge: Charge,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("bytes", &self.charge.bytes).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.free.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// A decoded `k8s_openapi::Pod` takes 43.6 kB of heap for 6.35 kB of JSON; smaller kinds take less. Counted high: a budget is a promise.
const HEAP_PER_JSON_BYTE: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_budget_keeps_nothing_more_and_gives_back_what_is_dropped() {
        let budget = Budget::new(80);
        let (first, second) = (Decoded::empty(), Decoded::empty());
        first.offer(&Arc::new(1_u64), 10, &budget);
        assert_eq!(budget.free.load(Ordering::Relaxed), 80 - 8 - 70);
        second.offer(&Arc::new(2_u64), 10, &budget);
        assert_eq!((first.get::<u64>().as_deref(), second.get::<u64>()), (Some(&1), None));
        drop(first);
        second.offer(&Arc::new(2_u64), 10, &budget);
        assert_eq!(second.get::<u64>().as_deref(), Some(&2));
        assert_eq!(second.get::<u32>(), None);
    }
}

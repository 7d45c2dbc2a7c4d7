//! Waiting for a fact, under a timeout.

use std::sync::Arc;

use kubewright::{
    error_chain,
    object::{Object, ObjectKey},
};
use tokio::time::timeout;

use crate::TestEnv;

impl TestEnv {
    /// Waits until `fact` holds for an object, or for its absence (`None`), and gives what it held for.
    ///
    /// Looks whenever the object's kind changes; no sleeping, no polling.
    ///
    /// # Panics
    /// If the fact does not hold within the environment's timeout (the message shows the object as it was then), or a manager that
    /// [`run`](Self::run) started ends by itself before.
    #[track_caller]
    pub fn wait_for<K: Object>(
        &self,
        key: &ObjectKey,
        fact: impl FnMut(Option<&K>) -> bool,
    ) -> impl Future<Output = Option<Arc<K>>> {
        let caller = std::panic::Location::caller();
        async move {
            let cache = self.client.cache();
            let waited = async {
                tokio::select! {
                    // What holds, holds, whoever has failed since then.
                    biased;
                    waited = cache.wait_for(key, fact) => waited,
                    failure = self.failures.any() => panic!("{caller}: waited in vain for {key}, since a manager failed: {failure}"),
                }
            };
            match timeout(self.timeout, waited).await {
                Ok(Ok(object)) => object,
                Ok(Err(error)) => panic!("{caller}: failed to wait for {key}: {}", error_chain(&error)),
                Err(_) => {
                    let last = cache.get::<K>(key).await;
                    panic!("{caller}: waited {:?} in vain for {key}, which is {last:#?}", self.timeout)
                }
            }
        }
    }

    /// Waits until an object is gone.
    ///
    /// # Panics
    /// As [`wait_for`](Self::wait_for).
    #[track_caller]
    pub fn wait_gone<K: Object>(&self, key: &ObjectKey) -> impl Future<Output = ()> {
        let waited = self.wait_for::<K>(key, |object| object.is_none());
        async move {
            waited.await;
        }
    }
}
